//! How to write a generator of your own.
//!
//! A generator is two traits: [`Generator`](crate::Generator) reads files and options once and compiles them, and
//! [`Prepared`](crate::Prepared) renders what was compiled, as often as needed, on any thread. One that needs no files is both at
//! once:
//!
//! ```
//! use serde::Deserialize;
//! use serde_json::{Value, json};
//! use whipstaff_generator::{
//!     Error, ErrorKind, FileTree, Generated, Generator, Input, Object, Prepared,
//! };
//!
//! #[derive(Debug, Clone, Copy)]
//! struct QueueGenerator;
//!
//! #[derive(Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Parameters {
//!     size: u32,
//! }
//!
//! impl Generator for QueueGenerator {
//!     fn name(&self) -> &str {
//!         "queue"
//!     }
//!
//!     fn detects(&self, _: &FileTree) -> Option<String> {
//!         None // only when `spec.generator` names it
//!     }
//!
//!     fn prepare(&self, _: &FileTree, _: &Value) -> Result<Box<dyn Prepared>, Error> {
//!         Ok(Box::new(*self))
//!     }
//! }
//!
//! impl Prepared for QueueGenerator {
//!     fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
//!         let parameters = Value::Object(input.parameters.clone());
//!         let Parameters { size } = Parameters::deserialize(parameters).map_err(|error| {
//!             Error::new(ErrorKind::Parameters, "cannot use the values").caused_by(error)
//!         })?;
//!         let object = json!({
//!             "apiVersion": "v1",
//!             "kind": "ConfigMap",
//!             "metadata": {"name": input.name},
//!             "data": {"size": size.to_string()},
//!         });
//!         let mut generated = Generated::default();
//!         generated.objects.push(Object::from_value(object)?, "queue");
//!         Ok(generated)
//!     }
//! }
//! #
//! # let parameters = json!({"size": 3});
//! # let capabilities = whipstaff_generator::Capabilities {
//! #     kube_version: "v1.34.0".parse().unwrap(),
//! #     api_versions: Default::default(),
//! # };
//! # let lookups = whipstaff_generator::LookupSnapshot::new();
//! # let input = Input::new("apps", "q", parameters.as_object().unwrap(), &capabilities, &lookups);
//! # let prepared = QueueGenerator.prepare(&FileTree::new(), &Value::Null)?;
//! # assert_eq!(prepared.generate(&input)?.objects.len(), 1);
//! # Ok::<(), Error>(())
//! ```
//!
//! An operator gets it through its [`Registry`](crate::Registry), beside those that come with Whipstaff or in their place. Components
//! then choose it with `spec.generator: queue`, give it `spec.values` and `spec.options`, and have transformers, several generators
//! and decryption around it like around any other.
//!
//! # Determinism
//!
//! The same [`Input`](crate::Input) must give the same bytes. An operator renders whenever something that went in has changed and
//! compares what comes out with what it applied; output that differs for no reason is applied for no reason, again and again. So:
//!
//! - no I/O, no environment, no clock and no randomness of your own;
//! - random values and the time come from [`Input::seed`](crate::Input::seed). `Stable` holds a key: derive each value from it and from
//!   something that names the value, for example with [`Digest::of_parts`](crate::Digest::of_parts), so that one more value does not
//!   change the others. With `Unknown`, fail after setting `random` in [`Consulted`](crate::Consulted): the host makes a seed and
//!   renders again. Say `clock` when you used `now`;
//! - iterate over ordered maps, never over a `HashMap`. Objects are applied by wave and kind, so that their order in the
//!   [`ObjectSet`](crate::ObjectSet) matters to people who read it only.
//!
//! # Parameters and options
//!
//! *Options* say how files are read and are known when they are compiled; *parameters* are the user's values and are known when
//! objects are rendered. Read both into types of yours with `deny_unknown_fields`: a misspelt key must not pass for a default. What is
//! wrong with them is an error of the kind [`ErrorKind::Parameters`](crate::ErrorKind::Parameters), which the status of a component
//! shows as `InvalidParameters`. A kind of your own needs no such check: its definition has a schema, and
//! `Component::parameters` makes parameters of its spec.
//!
//! # Live objects
//!
//! Ask the [`LookupSnapshot`](crate::LookupSnapshot) of the input. Record *every* question in
//! [`Consulted::lookups`](crate::Consulted::lookups), whether the snapshot has its answer or not, and go on as if the object did not
//! exist when it has none: the host asks the cluster as the component's identity, renders again until no question is new, and watches
//! what was asked for. When rendering fails after a question, hand what was consulted over with
//! [`Error::after_consulting`](crate::Error::after_consulting), or the failure counts as final before the answer is there. Whoever reads
//! [`Input::component`](crate::Input::component) sets [`Consulted::component`](crate::Consulted::component).
//!
//! # Errors
//!
//! An [`Error`](crate::Error) has a kind, a message in lower case without a period, the place in a file if there is one, and its cause.
//! It becomes the message of a condition and of an event, where anybody may read it: name the key that is wrong, not its value. Bound
//! everything that files or parameters control, by [`Input::limits`](crate::Input::limits) or constants of yours, and fail with
//! [`ErrorKind::Limit`](crate::ErrorKind::Limit). A generator that panics loses one reconciliation, not the operator.
//!
//! # Golden files
//!
//! Because rendering is a function, a test is a folder: input files, parameters, and the output as it was found good. Compare whole
//! texts, and rewrite them on purpose:
//!
//! ```
//! use whipstaff_generator::{Generated, yaml};
//!
//! fn text(generated: &Generated) -> String {
//!     let documents = generated.objects.iter().map(|item| {
//!         let object = item.object.clone().into_value();
//!         format!("---\n# from {}\n{}", item.source, yaml::to_string(&object))
//!     });
//!     documents.collect()
//! }
//!
//! fn check(generated: &Generated, golden: &std::path::Path) -> std::io::Result<()> {
//!     let found = text(generated);
//!     if std::env::var_os("UPDATE").is_some() {
//!         std::fs::write(golden, &found)?;
//!     }
//!     assert_eq!(std::fs::read_to_string(golden)?, found, "{}", golden.display());
//!     Ok(())
//! }
//! # let golden = std::env::temp_dir().join(format!("guide-{}.yaml", std::process::id()));
//! # std::fs::write(&golden, "").unwrap();
//! # check(&Generated::default(), &golden).unwrap();
//! # std::fs::remove_file(golden).unwrap();
//! ```
//!
//! Render each case twice and compare: that finds what is not deterministic. For a Component as a whole, with its transformers,
//! `whipstaff render -f component.yaml --offline --source FOLDER` prints what would be applied, and prints the same each time.
