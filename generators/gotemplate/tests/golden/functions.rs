//! Functions that the recorded cases call. Their types are what matters: they are those that the recording had in Go.

use whipstaff_gotemplate::{
    Function, FunctionError, Host, IntKind, Kind, List, ListType, Map, MapType, Method, MethodCall,
    Runtime, Signature, Type, UintKind, Value, format::sprint,
};

type Result = std::result::Result<Value, FunctionError>;

fn function(
    name: &'static str,
    parameters: &'static [Type],
    variadic: Option<Type>,
    call: fn(&mut dyn Runtime, &[Value]) -> Result,
) -> Function {
    Function {
        name,
        signature: Signature {
            parameters,
            variadic,
        },
        call,
    }
}

pub(crate) fn all() -> Vec<Function> {
    use Type::{Any, Bool, Float64, Int, Int64, String, Uint64};
    vec![
        function("dict", &[], Some(Any), |_, arguments| {
            let pairs = arguments.chunks_exact(2);
            Ok(Value::map(
                pairs.map(|pair| (sprint(&pair[..1]), pair[1].clone())),
            ))
        }),
        function("set", &[Type::Map, String, Any], None, |_, arguments| {
            let key = arguments[1].as_bytes().unwrap().clone();
            arguments[0]
                .as_map()
                .unwrap()
                .insert(key, arguments[2].clone());
            Ok(arguments[0].clone())
        }),
        function("list", &[], Some(Any), |_, arguments| {
            Ok(Value::list(arguments.to_vec()))
        }),
        function("upper", &[String], None, |_, arguments| {
            Ok(arguments[0]
                .as_bytes()
                .unwrap()
                .to_text()
                .to_uppercase()
                .into())
        }),
        function("add1", &[Int], None, |_, arguments| {
            Ok(Value::int(number(&arguments[0]) + 1))
        }),
        function("int", &[Any], None, |_, arguments| {
            Ok(Value::int(number(&arguments[0])))
        }),
        function("int64", &[Any], None, |_, arguments| {
            Ok(Value::int64(number(&arguments[0])))
        }),
        function("i64", &[Int64], None, |_, arguments| {
            Ok(arguments[0].clone())
        }),
        function("u64", &[Uint64], None, |_, arguments| {
            Ok(arguments[0].clone())
        }),
        function("f64", &[Float64], None, |_, arguments| {
            Ok(arguments[0].clone())
        }),
        function("isTrue", &[Bool], None, |_, arguments| {
            Ok(arguments[0].clone())
        }),
        function("join", &[String], Some(String), |_, arguments| {
            let texts: Vec<_> = arguments[1..]
                .iter()
                .map(|text| text.as_bytes().unwrap().to_text())
                .collect();
            Ok(texts
                .join(&arguments[0].as_bytes().unwrap().to_text())
                .into())
        }),
        function("keys", &[Type::Map], None, |_, arguments| {
            Ok(Value::int(arguments[0].as_map().unwrap().len() as i64))
        }),
        function("first", &[Type::List], None, |_, arguments| {
            Ok(arguments[0]
                .as_list()
                .unwrap()
                .first()
                .cloned()
                .unwrap_or_default())
        }),
        function("default", &[Any], Some(Any), |_, arguments| {
            let given = arguments
                .get(1)
                .filter(|given| !matches!(given, Value::Nil));
            Ok(given.unwrap_or(&arguments[0]).clone())
        }),
        function("oops", &[String], None, |_, arguments| {
            Err(FunctionError::new(
                arguments[0].as_bytes().unwrap().to_text(),
            ))
        }),
        function("typeOf", &[Any], None, |_, arguments| {
            Ok(arguments[0].type_name().into())
        }),
        function("stringmap", &[], None, |_, _| {
            let entries = [("a".into(), "x".into()), ("b".into(), "".into())];
            Ok(Value::Map(Map::new(MapType::STRING, entries.into())))
        }),
        function("strings", &[], None, |_, _| Ok(Value::strings(["x", "y"]))),
        function("bytes", &[String], None, |_, arguments| {
            Ok(bytes(arguments[0].as_bytes().unwrap()))
        }),
        function("duration", &[Int64], None, |_, arguments| {
            Ok(Value::Int(IntKind::Duration, number(&arguments[0])))
        }),
        function("version", &[Int64, Int64], None, |_, arguments| {
            Ok(Value::host(Version {
                major: number(&arguments[0]),
                minor: number(&arguments[1]),
            }))
        }),
        function("nothing", &[], None, |_, _| Ok(Value::Nil)),
    ]
}

pub(crate) fn bytes(text: &[u8]) -> Value {
    let items = text
        .iter()
        .map(|&byte| Value::Uint(UintKind::Uint8, byte.into()))
        .collect();
    Value::List(List::new(ListType::Byte, items))
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Int(_, number) => *number,
        Value::Float(number) => *number as i64,
        _ => 0,
    }
}

/// A pointer to a struct with methods.
#[derive(Debug)]
struct Version {
    major: i64,
    minor: i64,
}

impl Version {
    fn text(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }
}

fn version(host: &dyn Host) -> &Version {
    host.as_any().downcast_ref().unwrap()
}

impl Host for Version {
    fn type_name(&self) -> &'static str {
        "*main.Version"
    }

    fn kind(&self) -> Kind {
        Kind::Ptr
    }

    fn method(&self, name: &str) -> Option<Method> {
        let (parameters, call): (&'static [Type], MethodCall) = match name {
            "String" => (&[], |host, _, _| Ok(version(host).text().into())),
            "Less" => (&[Type::String], |host, _, arguments| {
                let than = arguments[0].as_bytes().unwrap();
                Ok(Value::Bool(version(host).text().as_bytes() < &**than))
            }),
            "Fail" => (&[], |_, _, _| Err(FunctionError::new("no such luck"))),
            _ => return None,
        };
        Some(Method {
            signature: Signature {
                parameters,
                variadic: None,
            },
            call,
        })
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Major" => Some(Value::int64(self.major)),
            "Minor" => Some(Value::int64(self.minor)),
            _ => None,
        }
    }

    fn print(&self) -> Vec<u8> {
        self.text().into_bytes()
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
