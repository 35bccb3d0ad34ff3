//! Numbers of GPUs from AMD's tools: `amd-smi metric --json`, or `rocm-smi --json` where only the older one is there.
//!
//! `amd-smi` comes with ROCm 5.7 and later; its JSON is a list of GPUs, or has one under `gpu_data`, and a number is alone, a text, or an
//! object with `value` and `unit` (`amdsmi_cli` of rocm-systems). It says MB and means MiB. What is not known is `N/A`.

use crate::gpus::Gpu;
use crate::programs::plain;
use serde_json::Value;
use std::collections::BTreeMap;

/// What `amd-smi` is asked for each time, and once for the names of GPUs.
pub(crate) const METRIC: [&str; 7] =
    ["metric", "--usage", "--mem-usage", "--power", "--clock", "--temperature", "--json"];
pub(crate) const STATIC: [&str; 3] = ["static", "--asic", "--json"];

/// What `rocm-smi` is asked for.
pub(crate) const ROCM: [&str; 8] =
    ["--showproductname", "--showuse", "--showmeminfo", "vram", "--showpower", "--showtemp", "--showclocks", "--json"];

/// The GPUs of `amd-smi metric`; names are those of [`names`].
pub(crate) fn of_amd_smi(said: &str, names: &BTreeMap<u32, String>) -> Vec<Gpu> {
    let Some(value) = document(said) else { return Vec::new() };
    let gpu = |said: &Value| {
        let index = u32::try_from(said["gpu"].as_u64()?).ok()?;
        let clock = clock(said);
        Some(Gpu {
            index,
            name: names.get(&index).cloned().unwrap_or_else(|| "AMD GPU".to_owned()),
            utilization_pct: number(&said["usage"]["gfx_activity"]),
            used_mib: number(&said["mem_usage"]["used_vram"]),
            total_mib: number(&said["mem_usage"]["total_vram"]),
            clock_mhz: clock.and_then(|clock| number(&clock["clk"])),
            most_clock_mhz: clock.and_then(|clock| number(&clock["max_clk"])).filter(|most| *most > 0.0),
            celsius: ["hotspot", "edge"].iter().find_map(|sensor| number(&said["temperature"][sensor])),
            watts: number(&said["power"]["socket_power"]),
        })
    };
    gpus_of(&value).iter().filter_map(gpu).collect()
}

/// The names of GPUs that `amd-smi static` says.
pub(crate) fn names(said: &str) -> BTreeMap<u32, String> {
    let Some(value) = document(said) else { return BTreeMap::new() };
    let name = |said: &Value| {
        let name = said["asic"]["market_name"].as_str().filter(|name| *name != "N/A")?;
        Some((u32::try_from(said["gpu"].as_u64()?).ok()?, plain(name)))
    };
    gpus_of(&value).iter().filter_map(name).collect()
}

/// The GPUs of `rocm-smi`.
pub(crate) fn of_rocm_smi(said: &str) -> Vec<Gpu> {
    let Some(Value::Object(cards)) = document(said) else { return Vec::new() };
    let gpu = |(card, said): (&String, &Value)| {
        let index = card.strip_prefix("card")?.parse().ok()?;
        let first = |keys: &[&str]| keys.iter().find_map(|key| number(&said[*key]));
        let mib = |key: &str| number(&said[key]).map(|bytes| bytes / f64::from(1 << 20));
        let name =
            ["Card Series", "Card series", "Card Model", "Card model"].iter().find_map(|key| said[*key].as_str());
        Some(Gpu {
            index,
            name: name.map_or_else(|| "AMD GPU".to_owned(), plain),
            utilization_pct: first(&["GPU use (%)"]),
            used_mib: mib("VRAM Total Used Memory (B)"),
            total_mib: mib("VRAM Total Memory (B)"),
            clock_mhz: first(&["sclk clock speed:"]),
            most_clock_mhz: None,
            celsius: first(&["Temperature (Sensor junction) (C)", "Temperature (Sensor edge) (C)"]),
            watts: first(&["Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)"]),
        })
    };
    let mut gpus: Vec<Gpu> = cards.iter().filter_map(gpu).collect();
    gpus.sort_by_key(|gpu| gpu.index);
    gpus
}

/// The document in what a tool said; warnings may come before it.
fn document(said: &str) -> Option<Value> {
    let start = said.find(['{', '['])?;
    serde_json::from_str(&said[start..]).ok()
}

fn gpus_of(value: &Value) -> &[Value] {
    value.as_array().or_else(|| value["gpu_data"].as_array()).map_or(&[], Vec::as_slice)
}

/// The clock of the first part of the GPU that has one.
fn clock(said: &Value) -> Option<&Value> {
    let parts = said["clock"].as_object()?;
    let mut parts =
        parts.iter().filter(|(name, part)| name.to_ascii_lowercase().starts_with("gfx") && part.is_object());
    parts.find(|(_, part)| number(&part["clk"]).is_some()).map(|(_, part)| part)
}

/// `40`, `"40"`, `"40 %"`, `"(1700Mhz)"` or `{"value": 40, "unit": "%"}`.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::Object(said) => match said.get("value")? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => of_text(text),
            _ => None,
        },
        Value::String(text) => of_text(text),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

fn of_text(text: &str) -> Option<f64> {
    let text = text.trim_start_matches('(');
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = r#"{"gpu_data": [
        {"gpu": 0, "usage": {"gfx_activity": {"value": 97, "unit": "%"}, "umc_activity": "N/A"},
         "power": {"socket_power": {"value": 612, "unit": "W"}},
         "clock": {"gfx_0": {"clk": "N/A"}, "gfx_1": {"clk": {"value": 2100, "unit": "MHz"}, "max_clk": {"value": 2100, "unit": "MHz"}},
                   "mem_0": {"clk": {"value": 1300, "unit": "MHz"}}},
         "temperature": {"edge": "N/A", "hotspot": {"value": 71, "unit": "C"}},
         "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 4096, "unit": "MB"}}},
        {"gpu": 1, "usage": "N/A", "clock": {"gfx_0": {"clk": 132, "max_clk": 0}}, "mem_usage": "N/A"}]}"#;

    #[test]
    fn every_form_of_a_number_is_read() {
        let names = names(r#"[{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}}, {"gpu": 1, "asic": "N/A"}]"#);
        let warned = format!("Permission needed: /dev/kfd\n{METRICS}");
        let gpus = of_amd_smi(&warned, &names);
        assert_eq!(gpus, of_amd_smi(METRICS, &names));
        let first = Gpu {
            index: 0,
            name: "AMD Instinct MI300X".to_owned(),
            utilization_pct: Some(97.0),
            used_mib: Some(4096.0),
            total_mib: Some(196_592.0),
            clock_mhz: Some(2100.0),
            most_clock_mhz: Some(2100.0),
            celsius: Some(71.0),
            watts: Some(612.0),
        };
        let second = Gpu { index: 1, name: "AMD GPU".to_owned(), clock_mhz: Some(132.0), ..Gpu::default() };
        assert_eq!(gpus, [first, second]);
    }

    #[test]
    fn the_older_tool_says_the_same() {
        let gpus = of_rocm_smi(
            r#"{"card1": {"GPU use (%)": "12", "VRAM Total Memory (B)": "21458059264", "VRAM Total Used Memory (B)": "27262976",
                "Average Graphics Package Power (W)": "22.5", "Temperature (Sensor edge) (C)": "44.0",
                "sclk clock speed:": "(1700Mhz)", "Card series": "Radeon RX 7900 XT"}, "card0": {}, "system": {"Driver version": "6"}}"#,
        );
        assert_eq!(gpus.iter().map(|gpu| gpu.index).collect::<Vec<_>>(), [0, 1]);
        let said = &gpus[1];
        assert_eq!(
            (said.utilization_pct, said.used_mib, said.clock_mhz, said.celsius, said.watts),
            (Some(12.0), Some(26.0), Some(1700.0), Some(44.0), Some(22.5))
        );
    }

    #[test]
    fn anything_else_is_no_gpu() {
        for said in ["", "no device", "{", "[1, {\"gpu\": -1}]", "{\"gpu_data\": 3}", "{\"cardx\": {}}"] {
            assert_eq!(
                (of_amd_smi(said, &BTreeMap::new()), of_rocm_smi(said), names(said).len()),
                (vec![], vec![], 0),
                "{said}"
            );
        }
    }
}
