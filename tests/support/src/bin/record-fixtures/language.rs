//! Control structures, fields, comparisons, formats and syntax, over all kinds of values.

use crate::functions::kinds;

/// A number that nobody can wait for to be counted up to.
const ENDLESS: &str = ".Values.set.big";

/// What stands around a value.
const AROUND: &[&str] = &[
    "{{ @ }}",
    "{{ @.missing }}",
    "{{ (@).missing }}",
    "{{ (@).a }}",
    "{{ (@).missing.deep }}",
    "{{ ((@).missing).deep }}",
    "{{ if @ }}yes{{ else }}no{{ end }}",
    "{{ if not @ }}no{{ else if @ }}yes{{ end }}",
    "{{ with @ }}{{ . }}{{ else }}none{{ end }}",
    "{{ with $x := @ }}{{ kindOf $x }}{{ else with 1 }}{{ . }}{{ end }}",
    "{{ range @ }}<{{ . }}>{{ else }}none{{ end }}",
    "{{ range $k, $v := @ }}{{ $k }}={{ $v }};{{ else }}none{{ end }}",
    "{{ range $v := @ }}{{ if $v }}{{ break }}{{ end }}{{ $v }},{{ end }}",
    "{{ range $i, $_ := @ }}{{ if $i }}{{ continue }}{{ end }}[{{ $i }}]{{ end }}",
    "{{ range (@) }}{{ $.Release.Name }}{{ end }}",
    "{{ template \"m.dot\" @ }}",
    "{{ include \"m.dot\" @ }}",
    "{{ $x := @ }}{{ $x }}{{ $x = 1 }}{{ $x }}",
    "{{ index (@) 0 }}",
    "{{ index (@) 1 }}",
    "{{ index (@) 99 }}",
    "{{ index (@) -1 }}",
    "{{ index (@) \"a\" }}",
    "{{ index (@) nil }}",
    "{{ index (@) 1.0 }}",
    "{{ index (@) \"a\" \"b\" }}",
    "{{ index (list 1 2 3) @ }}",
    "{{ index (dict \"text\" 1) @ }}",
    "{{ len (@) }}",
    "{{ @ 1 }}",
    "{{ 1 | @ }}",
    "{{ print (@) (@) \"s\" (@) }}",
    "{{ println (@) (@) }}",
    "{{ list (@) (@) }}",
    "{{ dict \"k\" (@) }}",
    "{{ list (@) | toJson }}",
    "{{ dict \"k\" (@) | toYaml }}",
    "{{ dict \"k\" (list (@)) | toYamlPretty }}",
    "{{ (dict \"k\" (@)).k }}",
    "{{ (dict \"k\" (@)).k.l }}",
    "{{ printf \"%v|%T\" (@) (@) }}",
    "{{ printf \"%+v %#v\" (@) (@) }}",
    "{{ printf \"%s %q\" (@) (@) }}",
    "{{ printf \"%d %5.2f\" (@) (@) }}",
    "{{ printf \"%t %x %X\" (@) (@) (@) }}",
    "{{ printf \"%08v|%-8v|%+d|% d\" (@) (@) (@) (@) }}",
    "{{ printf \"%e %g %G %b %o %O %c %U\" (@) (@) (@) (@) (@) (@) (@) (@) }}",
    "{{ printf \"%*d %.*f %[1]v %[5]v %!\" (@) 1 }}",
    "{{ and (@) 1 }},{{ or (@) 1 }}",
    "{{ empty (@) }},{{ kindOf (@) }},{{ typeOf (@) }}",
    "{{ list (@) | uniq }},{{ has (@) (list (@)) }},{{ compact (list (@)) }}",
    "{{ list (@) | join \"-\" }}",
    "{{ tpl \"{{ . }}\" (@) }}",
    "{{ tpl \"{{ .a }}\" (@) }}",
    "{{ deepCopy (@) }}",
    "{{ merge (dict) (dict \"k\" (@)) }}",
    "{{ mergeOverwrite (dict \"k\" 1) (dict \"k\" (@)) }}",
    "{{ merge (dict \"k\" (@)) (dict \"k\" (dict \"l\" 1)) }}",
    "{{ quote (@) (@) }},{{ squote (@) }},{{ cat (@) 1 }}",
    "{{ int (@) }},{{ int64 (@) }},{{ float64 (@) }},{{ toString (@) }}",
    "{{ add (@) 1 }},{{ mulf (@) 2 }},{{ max 1 (@) }}",
    "{{ toToml (dict \"k\" (@)) }}",
    "{{ toPrettyJson (list (@)) }},{{ toRawJson (@) }}",
    "{{ @ | default \"d\" }},{{ coalesce (@) \"d\" }},{{ ternary 1 2 (empty (@)) }}",
];

/// Texts that are wrong, or nearly.
const SYNTAX: &str = include_str!("syntax.txt");

pub(crate) fn templates() -> Vec<String> {
    let mut templates = Vec::new();
    for around in AROUND {
        let takes = |kind: &str| {
            let is_endless = kind == ENDLESS && around.contains("range");
            // A time prints the address of its zone as a number.
            let has_address = kind.contains("toDate") && around.contains("%+d");
            !is_endless && !has_address
        };
        let kinds = kinds().into_iter().filter(|kind| takes(kind));
        templates.extend(kinds.map(|kind| around.replace('@', kind)));
    }
    comparisons(&mut templates);
    // A line may hold line breaks, as `⏎`.
    templates.extend(SYNTAX.lines().map(|line| line.replace('⏎', "\n")));
    templates
}

fn comparisons(templates: &mut Vec<String>) {
    let kinds = kinds();
    for left in &kinds {
        for right in kinds.iter().step_by(2) {
            templates.push(format!("{{{{ eq {left} {right} }}}}"));
        }
        for right in kinds.iter().skip(1).step_by(4) {
            templates.push(format!("{{{{ lt {left} {right} }}}}"));
            templates.push(format!("{{{{ deepEqual {left} {right} }}}}"));
        }
    }
}
