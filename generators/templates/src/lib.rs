//! File trees whose files are templates, Go's or Tera's: a [`FileTree`](whipstaff_generator::FileTree) and parameters in, a tree of rendered files
//! out.
//!
//! ```text
//! FileTree ── Templates::compile ──► Templates ── expand(Input) ──► Expanded { files, consulted, warnings }
//! ```
//!
//! [`TemplatedGenerator`] puts this before a generator of its own.
//!
//! The engine, the budgets and what comes from outside are those of Helm charts: Sprig's and Helm's functions, a stable seed that gives
//! each template random values of its own, questions to the cluster that are recorded and answered by the host.
//!
//! # Kustomizations
//!
//! [`Layout::Kustomization`] mirrors component-operator-runtime (its Kustomize generator, 0.3). There, each file is a template; here
//! templating is on when the folder has a `.component-config.yaml` or the option `template` is true, so that a plain kustomization
//! stays as it is, and `template: false` turns it off in any case.
//!
//! - `.component-config.yaml`: `templateSuffix` (taken off the names of outputs; without it all files are templates),
//!   `leftTemplateDelimiter`, `rightTemplateDelimiter`, `includedFiles` (outside of the folder, for `readFile` and its like, under the
//!   path as it is written), `includedKustomizations` (folders outside that are rendered too) and `values` (defaults under the
//!   parameters). Keys are found in any case. It beats the generator's options of the same names.
//! - `.component-ignore` at the root, in the language of `.gitignore`: what it names is not in the output, and still readable.
//! - Templates get the parameters as they are: `{{ .replicas }}`. A missing key renders to nothing.
//! - A folder without a kustomization gets one that lists its `*.yaml` and `*.yml`.
//! - Functions beside Sprig's and Helm's: `lookup`, `mustLookup`, `lookupList` and their `local` siblings; `listFiles`, `existsFile`,
//!   `readFile`; `component` (by the names of JSON and of Go), `componentDigest`, `componentRevision`, `namespace`, `name`,
//!   `kubernetesVersion`, `apiResources`; `bitwiseShiftLeft` and so on; `parseIPv4Address`, `formatIPv4Address`. Conversions such as
//!   `fromYaml` fail on malformed input. `env`, `expandenv` and lookups with a kubeconfig fail; `getHostByName` gives nothing.
//!
//! Different from the original on purpose: a null among the parameters removes a default, and a parameter that is no map replaces a
//! map; what a template does to its values, others do not see; a template and a file with one output are refused; files of included
//! folders are readable one by one; a nested kustomization is listed as a folder; `.component-ignore` reaches into folders.
//!
//! # Directories
//!
//! [`Layout::Directory`]: files that end in `.gotmpl` are templates; everything else stays as it is, braces included. `.tpl` files, and
//! templates that would not give a manifest (`.yaml`, `.yml`, `.json`), are there for their definitions. Only when it is asked for.
//!
//! # Tera
//!
//! With the option `tera` (`templates: [tera]` of a directory), files that end in `.tera` are Tera templates in both layouts. They see
//! the same parameters and functions, include Go templates and are included by them.

mod expand;
mod folder;
mod functions;
mod go_object;
mod ignore_rules;
mod kustomization;
mod options;
mod paths;
mod readable;
mod templated;
mod values;

pub use expand::{Expanded, Templates, expand};
pub use folder::{COMPONENT_IGNORE_FILE, GO_SUFFIX, Layout, PARTIAL_SUFFIX};
pub use ignore_rules::{
    IgnoreRules, IgnoreScope, MAX_IGNORE_DEPTH, MAX_IGNORE_RULE_LENGTH, MAX_IGNORE_RULES,
};
pub use kustomization::{KUSTOMIZATION_FILES, missing_kustomization};
pub use options::{CONFIG_FILE, MAX_DELIMITER_LENGTH, MAX_INCLUDES, TemplateOptions};
pub use templated::TemplatedGenerator;
pub use values::MAX_VALUES_DEPTH;
pub use whipstaff_tera::SUFFIX as TERA_SUFFIX;
