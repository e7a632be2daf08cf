//! Functions in the combinations that charts use: versions, dates, patterns, texts, maps.

const RECIPES: &str = include_str!("recipes.txt");

const VERSIONS: &[&str] = &[
    "1.2.3",
    "v1.2.3",
    "1.2",
    "1",
    "1.2.3-alpha",
    "1.2.3-alpha.1",
    "1.2.3-rc.1+build.5",
    "1.30.4-gke.100",
    "v1.29.0+k3s1",
    "2.0.0",
    "0.2.3",
    "0.0.3",
    "01.2.3",
    "1.2.3.4",
    "1.x",
    "latest",
    "",
    "1.2.3-",
    "1.2.3+",
    "v",
    "10.20.30",
    "1.2.3-01",
];
const CONSTRAINTS: &[&str] = &[
    "1.2.3",
    "=1.2.3",
    "!=1.2.3",
    ">1.2",
    ">=1.2.3",
    "<2",
    "<=1.2.3-rc.1",
    "~1.2.3",
    "~1.2",
    "~1",
    "^1.2.3",
    "^0.2.3",
    "^0.0.3",
    "^0",
    "1.x",
    "1.2.*",
    "*",
    "x",
    "",
    ">=1.2, <2",
    ">=1.2 <2",
    "<1 || >=1.2.3-0",
    "1.2 - 1.4",
    "1.2.3 - 2",
    ">=1.20-0",
    ">= 1.19-0",
    "=>1.2",
    "=<2",
    "~>1.2",
    ">=v1.2",
    "^1.2.x",
    "bad",
    ">",
    ">=1.2.3,",
    "||",
    "> 1.2.3-alpha",
    "^1.2.3-alpha",
    "~1.2.3-0",
    "!=1.x",
    ">1.x",
];
const LAYOUTS: &[&str] = &[
    "2006-01-02",
    "2006-01-02T15:04:05Z07:00",
    "Mon Jan _2 15:04:05 MST 2006",
    "02/01/06 03:04PM",
    "Monday, 02-Jan-06",
    "20060102150405",
    "3:04pm",
    "15h04m05.000s",
    "Jan 2 15:04:05.000000",
    ".999 ,999",
    "2006 002 __2",
    "-0700 -07:00 -07 Z0700 Z07",
    "January 1 1 01",
    "5 05 4 04 3 03",
    "no layout",
    "",
];
const MOMENTS: &[&str] = &[
    "2024-02-29 13:14:15 +0000",
    "1999-12-31 23:59:59 -0730",
    "0001-01-01 00:00:00 +0000",
    "2024-12-30 00:05:09 +0545",
    "9999-01-01 12:00:00 +0000",
];
const DURATIONS: &[&str] = &[
    "0",
    "1s",
    "90s",
    "1h30m",
    "1.5h",
    "-5m",
    "100ms",
    "1us",
    "1µs",
    "3ns",
    "2400h",
    "1d",
    "5",
    "",
    "h",
    "1h1h",
    ".5s",
    "+2m",
    "9223372036854775807ns",
    "1e3s",
    " 1s",
];
const PATTERNS: &[&str] = &[
    "a",
    "^a",
    "a$",
    "[a-z]+",
    "[^a-z]",
    "(a)(b)?",
    "a|b",
    "a*",
    "a+?",
    "a{2}",
    "a{1,}",
    "\\d+",
    "\\w+",
    "\\s",
    "\\bword\\b",
    "(?i)TEXT",
    "(?m)^l",
    "(?s)a.b",
    ".",
    "",
    "(?P<name>x+)",
    "(?:ab)+",
    "[[:alpha:]]+",
    "\\p{L}+",
    "\\pN",
    "[\\d.]+",
    "é",
    "^$",
    "(",
    "[",
    "a**",
    "\\",
    "(?<n>a)",
    "(?=a)",
    "\\1",
    "x{1001}",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "\\Qa.b\\E",
    "\\x41",
    "\\.",
    "[a-]",
    "[]a]",
    "\\C",
    "\\z",
];
const TEXTS: &[&str] = &[
    "a word text",
    "aab1.25",
    "line\nlast é",
    "",
    "xxabxa.b",
    "my-name-01",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2.5",
    "-2.5",
    "0.1",
    "1e3",
    "1e21",
    "123456789",
    "9223372036854775807",
    "\"12\"",
    "\"1.5\"",
    "\"x\"",
    "\"\"",
    "nil",
    "true",
    "\"0x10\"",
    "\"010\"",
    ".Values.num",
    ".Values.big",
    ".Values.set.big",
    "(list 1)",
];
const ARITHMETIC: &[&str] = &[
    "add",
    "sub",
    "mul",
    "div",
    "mod",
    "max",
    "min",
    "addf",
    "subf",
    "mulf",
    "divf",
    "maxf",
    "minf",
    "round",
    "ceil",
    "floor",
    "add1",
    "add1f",
    "int",
    "int64",
    "float64",
    "toString",
    "toDecimal",
    "plural \"a\" \"b\"",
    "duration",
    "durationRound",
    "trunc",
];
const TEXT_FUNCTIONS: &[&str] = &[
    "upper",
    "lower",
    "title",
    "untitle",
    "camelcase",
    "snakecase",
    "kebabcase",
    "swapcase",
    "initials",
    "nospace",
    "trim",
    "trimAll \"-\"",
    "trimPrefix \"a\"",
    "trimSuffix \"d\"",
    "trunc 4",
    "trunc -4",
    "trunc 0",
    "abbrev 8",
    "abbrevboth 4 12",
    "substr 1 4",
    "substr -1 4",
    "substr 2 -1",
    "substr 3 2",
    "repeat 2",
    "replace \"o\" \"0\"",
    "replace \"\" \"-\"",
    "wrap 10",
    "wrapWith 6 \"|\"",
    "contains \"o\"",
    "hasPrefix \"h\"",
    "hasSuffix \"d\"",
    "quote",
    "squote",
    "cat \"x\"",
    "indent 2",
    "nindent 2",
    "indent 0",
    "b64enc",
    "b32enc",
    "sha256sum",
    "sha1sum",
    "sha512sum",
    "adler32sum",
    "splitList \" \"",
    "split \" \"",
    "splitn \" \" 2",
    "join \"-\"",
    "sortAlpha",
    "regexQuoteMeta",
    "html",
    "js",
    "urlquery",
    "len",
    "base",
    "dir",
    "ext",
    "clean",
    "isAbs",
    "osBase",
    "osDir",
    "b64dec",
    "b32dec",
    "toJson",
    "toYaml",
    "urlParse",
    "printf \"%-12q|\"",
    "first",
    "reverse",
    "list",
    "toStrings",
    "int",
    "fromYaml",
    "fromJson",
    "fromToml",
    "tpl \"{{ . }}\"",
];
const SUBJECTS: &[&str] = &[
    "hello world",
    "Hello-World_and more",
    "  spaced  out  ",
    "helloWorldFOOBar2Baz",
    "a/b.c/../d.e",
    "h\u{e9}llo w\u{f6}rld \u{65e5}\u{672c}",
    "",
    "-",
    "HTTPServer_ID 42nd",
    "line one\nline two\n\nline three",
    "aGVsbG8=",
    "{\"a\": [1]}",
    "x=1&y=<2>",
];

fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(crate) fn templates() -> Vec<String> {
    let mut templates: Vec<String> = RECIPES
        .lines()
        .map(|line| line.replace('⏎', "\n"))
        .collect();
    versions(&mut templates);
    dates(&mut templates);
    patterns(&mut templates);
    numbers(&mut templates);
    for function in TEXT_FUNCTIONS {
        templates.extend(
            SUBJECTS
                .iter()
                .map(|text| format!("{{{{ {} | {function} }}}}", literal(text))),
        );
    }
    templates
}

fn versions(templates: &mut Vec<String>) {
    for version in VERSIONS {
        let version = literal(version);
        templates.push(format!("{{{{ $v := semver {version} }}}}{{{{ $v }}}} {{{{ $v.Major }}}} {{{{ $v.Minor }}}} {{{{ $v.Patch }}}} {{{{ $v.Prerelease }}}} {{{{ $v.Metadata }}}} {{{{ $v.Original }}}} {{{{ $v.IncPatch }}}} {{{{ toJson $v }}}}"));
        for constraint in CONSTRAINTS {
            templates.push(format!(
                "{{{{ semverCompare {} {version} }}}}",
                literal(constraint)
            ));
        }
        for other in VERSIONS.iter().take(12) {
            templates.push(format!(
                "{{{{ (semver {version}).Compare (semver {}) }}}}",
                literal(other)
            ));
        }
    }
}

fn dates(templates: &mut Vec<String>) {
    for moment in MOMENTS {
        let moment = format!("(toDate \"2006-01-02 15:04:05 -0700\" {})", literal(moment));
        for layout in LAYOUTS {
            let layout = literal(layout);
            templates.push(format!("{{{{ dateInZone {layout} {moment} \"UTC\" }}}} {{{{ dateInZone {layout} {moment} \"America/New_York\" }}}} {{{{ {moment}.Format {layout} }}}}"));
        }
        for duration in DURATIONS {
            templates.push(format!("{{{{ (dateModify {0} {moment}).UTC }}}} {{{{ mustDateModify {0} {moment} | unixEpoch }}}}", literal(duration)));
        }
        templates.push(format!("{{{{ {moment} }}}} {{{{ toJson {moment} }}}} {{{{ toYaml {moment} }}}} {{{{ unixEpoch {moment} }}}} {{{{ {moment}.UTC }}}} {{{{ {moment}.Unix }}}}"));
    }
    for layout in LAYOUTS {
        for moment in [
            "2024-02-29",
            "2024-02-30",
            "Mon Feb 29 13:14:15 UTC 2024",
            "29/02/24 01:14PM",
            "20240229131415",
            "3:04pm",
            "2024-02-29T13:14:15+02:00",
            "",
        ] {
            templates.push(format!(
                "{{{{ (toDate {0} {1}).UTC }}}} {{{{ mustToDate {0} {1} | unixEpoch }}}}",
                literal(layout),
                literal(moment)
            ));
        }
    }
    for duration in DURATIONS {
        let duration = literal(duration);
        templates.push(format!(
            "{{{{ duration {duration} }}}} {{{{ durationRound {duration} }}}}"
        ));
        for function in [
            "mustToDuration",
            "durationSeconds",
            "durationMinutes",
            "durationHours",
            "durationDays",
            "durationWeeks",
            "durationMilliseconds",
            "durationMicroseconds",
            "durationNanoseconds",
        ] {
            templates.push(format!("{{{{ {function} {duration} }}}}"));
        }
        templates.push(format!("{{{{ durationRoundTo {duration} \"7s\" }}}} {{{{ durationTruncateTo {duration} \"7s\" }}}} {{{{ durationRoundTo \"100s\" {duration} }}}}"));
    }
}

fn patterns(templates: &mut Vec<String>) {
    for pattern in PATTERNS {
        let pattern = literal(pattern);
        for text in TEXTS {
            let text = literal(text);
            templates.push(format!("{{{{ mustRegexMatch {pattern} {text} }}}} {{{{ mustRegexFind {pattern} {text} }}}} {{{{ mustRegexFindAll {pattern} {text} -1 }}}} {{{{ mustRegexFindAll {pattern} {text} 2 | toJson }}}}"));
            templates.push(format!("{{{{ regexReplaceAll {pattern} {text} \"<$0${{1}}x$1x>\" }}}} {{{{ regexReplaceAllLiteral {pattern} {text} \"$1\" }}}} {{{{ regexSplit {pattern} {text} -1 | toJson }}}} {{{{ regexSplit {pattern} {text} 2 | toJson }}}}"));
        }
        templates.push(format!(
            "{{{{ mustRegexReplaceAll {pattern} \"abc\" \"${{name}}$$\" }}}}"
        ));
    }
}

fn numbers(templates: &mut Vec<String>) {
    for function in ARITHMETIC {
        for left in NUMBERS {
            templates.push(format!("{{{{ {function} {left} }}}}"));
            for right in NUMBERS.iter().step_by(3) {
                templates.push(format!("{{{{ {function} {left} {right} }}}}"));
            }
        }
    }
}
