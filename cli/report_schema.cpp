#include "cli/schemas.h"

namespace opseal {

// Closed, unlike what readers of a report should do: a key that nobody described is a defect of the
// writer, and the tests hold the writer against this.
std::string report_schema() {
  return R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "opseal report, version 1",
  "description": "The whole of `-o json`; each line of `-o jsonl` is a `#/$defs/Finding`. Later releases add keys, and never rename one or change its meaning.",
  "type": "object",
  "properties": {
    "opseal_report": {"const": 1, "description": "version of the format"},
    "tool": {
      "type": "object",
      "properties": {"name": {"const": "opseal"}, "version": {"type": "string"}},
      "required": ["name", "version"],
      "additionalProperties": false
    },
    "run": {
      "type": "object",
      "properties": {
        "command": {"enum": ["check", "diff", "probe"]},
        "arguments": {"type": "array", "items": {"type": "string"}, "description": "as given, without the command"},
        "exit_code": {"enum": [0, 1, 3, 4]},
        "complete": {"type": "boolean", "description": "everything that was given could be read, and under --strict every rule had something to look at"}
      },
      "required": ["command", "arguments", "exit_code", "complete"],
      "additionalProperties": false
    },
    "summary": {
      "type": "object",
      "properties": {
        "inputs": {"$ref": "#/$defs/Count"},
        "operators": {"$ref": "#/$defs/Count"},
        "libraries": {"$ref": "#/$defs/Count", "description": "built files whose content was read"},
        "error": {"$ref": "#/$defs/Count", "description": "findings that nothing silences"},
        "warning": {"$ref": "#/$defs/Count"},
        "note": {"$ref": "#/$defs/Count"},
        "suppressed": {"$ref": "#/$defs/Count", "description": "findings and changes silenced by a comment or the configuration"},
        "baselined": {"$ref": "#/$defs/Count", "description": "silenced by the baseline"},
        "other_files": {"$ref": "#/$defs/Count", "description": "files under given directories of no kind that opseal reads"},
        "changes": {"$ref": "#/$defs/ChangeCounts"},
        "refuted": {"$ref": "#/$defs/Count", "description": "of `probe`: findings of reading that a probe showed to be wrong, and that are dropped"}
      },
      "required": ["inputs", "operators", "libraries", "error", "warning", "note", "suppressed", "baselined", "other_files"],
      "additionalProperties": false
    },
    "findings": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
    "changes": {"type": "array", "items": {"$ref": "#/$defs/Change"}, "description": "of `diff` alone: everything that differs between the two dumps"},
    "problems": {"type": "array", "items": {"$ref": "#/$defs/Problem"}},
    "rules": {"type": "array", "items": {"$ref": "#/$defs/RuleRun"}},
    "probes": {"type": "array", "items": {"$ref": "#/$defs/Probe"}, "description": "of `probe` alone: what was called, in the order in which it was planned"}
  },
  "required": ["opseal_report", "tool", "run", "summary", "findings", "problems", "rules", "probes"],
  "additionalProperties": false,
  "$defs": {
    "Count": {"type": "integer", "minimum": 0},
    "ProbeOperand": {
      "type": "object",
      "properties": {
        "dtypes": {"type": "array", "items": {"type": "string"}, "description": "the one that it had"},
        "shape": {"type": "array", "items": {"$ref": "#/$defs/Count"}}
      },
      "additionalProperties": false
    },
    "Deviation": {
      "type": "object",
      "properties": {
        "kind": {"enum": ["unwritten", "out_of_bounds", "input_written", "unstable", "value", "traits", "signature", "in_place", "unrefused", "threads", "kernels", "refused_again", "alternative", "jvp", "transpose", "narrow", "repeated"]},
        "name": {"type": "string", "description": "of the buffer: `result 0`, `argument 1 (x)`"},
        "index": {"type": "number", "description": "first element that deviates; of `out_of_bounds` the byte, counted from the start of the buffer"},
        "elements": {"$ref": "#/$defs/Count", "description": "how many deviate"},
        "expected": {"type": "string"},
        "seen": {"type": "string"}
      },
      "required": ["kind"],
      "additionalProperties": false
    },
    "Probe": {
      "type": "object",
      "properties": {
        "kind": {"enum": ["metadata", "signature", "call", "threads", "library", "framework", "jvp", "transpose"]},
        "identity": {"type": "string", "description": "`opseal probe --repro` prints the command that runs it again"},
        "system": {"type": "string", "description": "of `framework`: the one that was checked"},
        "version": {"type": "string", "description": "of that framework"},
        "name": {"type": "string", "description": "of `framework`: the check"},
        "operator": {"type": "string"},
        "input": {"type": "string", "description": "of the operator, of which a framework's check speaks"},
        "platform": {"type": "string"},
        "library": {"type": "string"},
        "symbol": {"type": "string"},
        "target": {"type": "string"},
        "status": {"enum": ["passed", "differs", "refused", "crashed", "timed_out", "no_answer", "skipped"]},
        "reason": {"type": "string", "description": "what it said, or what is missing; of a signature, what was recovered"},
        "arguments": {"type": "array", "items": {"$ref": "#/$defs/ProbeOperand"}},
        "results": {"type": "array", "items": {"$ref": "#/$defs/ProbeOperand"}},
        "expected": {"type": "string", "description": "of the framework"},
        "seen": {"type": "string", "description": "what it did"},
        "declared": {"type": "boolean", "description": "whether the declaration says that it serves such a call"},
        "counterpart": {"type": "string", "description": "identity of the call whose values these were held against"},
        "method": {"enum": ["bounds", "alike"], "description": "by the bounds that the two state, or by half of the digits, since nobody states any"},
        "bit_stable": {"type": "boolean", "description": "declared"},
        "deviations": {"type": "array", "items": {"$ref": "#/$defs/Deviation"}},
        "seed": {"$ref": "#/$defs/Count"},
        "seconds": {"type": "number"}
      },
      "required": ["kind", "identity", "status"],
      "additionalProperties": false
    },
    "Position": {"type": "integer", "minimum": 1},
    "Severity": {"enum": ["error", "warning", "note"]},
    "Location": {
      "type": "object",
      "description": "Empty: about the run, no file. Only `path`: about a whole file. Without lines: a binary, or a file that changed since it was read.",
      "properties": {
        "path": {"type": "string", "description": "relative to the root of the run, with `/`; `-` is standard input; absolute outside the root"},
        "line": {"$ref": "#/$defs/Position"},
        "column": {"$ref": "#/$defs/Position", "description": "in Unicode code points"},
        "end_line": {"$ref": "#/$defs/Position"},
        "end_column": {"$ref": "#/$defs/Position", "description": "just behind the last code point"},
        "offset": {"$ref": "#/$defs/Count", "description": "bytes from the start of the file"},
        "length": {"$ref": "#/$defs/Count", "description": "bytes"},
        "logical": {"type": "string", "format": "json-pointer", "description": "of the innermost value that covers the place; left out for the whole document"}
      },
      "dependentRequired": {
        "line": ["path", "column", "end_line", "end_column", "offset"],
        "column": ["line"], "end_line": ["line"], "end_column": ["line"],
        "offset": ["path", "length"], "length": ["offset"], "logical": ["offset"]
      },
      "additionalProperties": false
    },
    "Labelled": {
      "type": "object",
      "properties": {
        "label": {"type": "string", "description": "what the place contributes"},
        "location": {"$ref": "#/$defs/Location"}
      },
      "required": ["label", "location"],
      "additionalProperties": false
    },
    "Finding": {
      "type": "object",
      "properties": {
        "rule": {"type": "string"},
        "severity": {"$ref": "#/$defs/Severity"},
        "subject": {"type": "string", "description": "what it is about: `namespace::operator`, a target, a cache"},
        "message": {"type": "string"},
        "location": {"$ref": "#/$defs/Location"},
        "label": {"type": "string", "description": "what `location` contributes; may be empty"},
        "related": {"type": "array", "items": {"$ref": "#/$defs/Labelled"}},
        "fix": {"type": "string"},
        "witnesses": {"type": "array", "items": {"enum": ["declared", "registered", "shipped", "observed"]}, "description": "who was heard: what was written down, handed to a framework, is in a built file, ran"},
        "tier": {"enum": ["manifest", "lexed", "typed", "bytes", "trace", "probe"], "description": "which kind of reading it rests on"},
        "confirmed": {"type": ["boolean", "null"], "description": "by a probe; null: nobody tried"},
        "fingerprint": {"type": "string", "pattern": "^opseal1:[0-9a-f]{32}$", "description": "survives edits elsewhere in the file"},
        "silenced": {
          "type": "object",
          "description": "the finding counts for nothing else",
          "properties": {"by": {"enum": ["comment", "config", "baseline"]}, "reason": {"type": "string"}},
          "required": ["by", "reason"],
          "additionalProperties": false
        }
      },
      "required": ["rule", "severity", "subject", "message", "location", "label", "related", "fix", "witnesses", "tier", "confirmed", "fingerprint"],
      "additionalProperties": false
    },
    "Change": {
      "type": "object",
      "properties": {
        "kind": {"type": "string", "description": "what changed: `operator-removed`, `jvp`, `kernel-added`"},
        "impact": {"enum": ["breaking", "numerics", "speed", "additive"], "description": "what it means for users, strongest first: calls or stored programs fail, results may change, speed may change, there is more"},
        "bump": {"enum": ["major", "minor", "patch"], "description": "part of the version number that has to move"},
        "subject": {"type": "string"},
        "message": {"type": "string", "description": "what is there now, and what was"},
        "meaning": {"type": "string", "description": "what users see of it"},
        "before": {"$ref": "#/$defs/Location", "description": "empty: the first dump has nothing there"},
        "after": {"$ref": "#/$defs/Location"},
        "silenced": {
          "type": "object",
          "description": "accepted by `[[silence]]`: the change counts for nothing else",
          "properties": {"by": {"enum": ["config"]}, "reason": {"type": "string"}},
          "required": ["by", "reason"],
          "additionalProperties": false
        }
      },
      "required": ["kind", "impact", "bump", "subject", "message", "meaning", "before", "after"],
      "additionalProperties": false
    },
    "ChangeCounts": {
      "type": "object",
      "description": "of `diff` alone",
      "properties": {
        "breaking": {"$ref": "#/$defs/Count"},
        "numerics": {"$ref": "#/$defs/Count"},
        "speed": {"$ref": "#/$defs/Count"},
        "additive": {"$ref": "#/$defs/Count"},
        "bump": {"enum": ["major", "minor", "patch", null], "description": "the largest that any change asks for; null: no change"},
        "unpaired": {"$ref": "#/$defs/Count", "description": "operators and targets of one dump whose list the other leaves out or has parts of that were not read"},
        "unsaid": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Count"}, "description": "key: how often only one dump says it, which is no change"},
        "systems_before": {"type": "array", "items": {"type": "string"}, "description": "systems that only the first dump has manifests of"},
        "systems_after": {"type": "array", "items": {"type": "string"}, "description": "systems that only the second dump has manifests of"}
      },
      "required": ["breaking", "numerics", "speed", "additive", "bump", "unpaired", "unsaid", "systems_before", "systems_after"],
      "additionalProperties": false
    },
    "Problem": {
      "type": "object",
      "description": "What could not be read; a note: a remark on the run.",
      "properties": {
        "severity": {"$ref": "#/$defs/Severity", "description": "an error makes the run incomplete"},
        "message": {"type": "string"},
        "location": {"$ref": "#/$defs/Location"},
        "related": {"type": "array", "items": {"$ref": "#/$defs/Labelled"}}
      },
      "required": ["severity", "message", "location", "related"],
      "additionalProperties": false
    },
    "RuleRun": {
      "type": "object",
      "properties": {
        "rule": {"type": "string"},
        "state": {"enum": ["ran", "skipped"]},
        "inspected": {"$ref": "#/$defs/Count", "description": "items that had everything the rule needs"},
        "findings": {"$ref": "#/$defs/Count", "description": "silenced ones included"},
        "reason": {"type": ["string", "null"], "description": "why it was skipped"}
      },
      "required": ["rule", "state", "inspected", "findings", "reason"],
      "additionalProperties": false
    }
  }
}
)";
}

}  // namespace opseal
