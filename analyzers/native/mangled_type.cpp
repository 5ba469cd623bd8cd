#include "analyzers/native/mangled_type.h"

namespace opseal {
namespace {

using Kind = MangledNode::Kind;

constexpr std::size_t most_text = 2000;

}  // namespace

std::string MangledType::name_of(std::uint32_t index) const {
  const MangledNode& node = nodes_[index];
  if (node.kind == Kind::instance) return name_of(node.scope);
  if (node.kind != Kind::name) return {};
  std::string name;
  if (node.scope != nothing) name = name_of(node.scope) + "::";
  return name.append(node.text);
}

std::vector<std::uint32_t> MangledType::arguments_of(std::uint32_t index) const {
  std::vector<std::uint32_t> arguments;
  if (nodes_[index].kind != Kind::instance) return arguments;
  for (const std::uint32_t part : nodes_[index].parts) {
    const MangledNode& node = nodes_[part];
    if (node.kind == Kind::pack) {
      arguments.insert(arguments.end(), node.parts.begin(), node.parts.end());
    } else {
      arguments.push_back(part);
    }
  }
  return arguments;
}

std::string MangledType::text_of(std::uint32_t index) const {
  std::string out;
  write(index, out);
  if (out.size() > most_text) out.replace(most_text, std::string::npos, "...");
  return out;
}

void MangledType::write_list(const std::vector<std::uint32_t>& parts, std::size_t first,
                             std::string& out) const {
  bool separated = true;
  for (std::size_t i = first; i < parts.size() && out.size() <= most_text; ++i) {
    const MangledNode& part = nodes_[parts[i]];
    if (part.kind == Kind::pack && part.parts.empty()) continue;
    if (!separated) out += ", ";
    separated = false;
    write(parts[i], out);
  }
}

// Every node that is written adds a character, so that the limit ends this, too.
void MangledType::write(std::uint32_t index, std::string& out) const {
  if (out.size() > most_text) return;
  const MangledNode& node = nodes_[index];
  switch (node.kind) {
    case Kind::name:
      if (node.scope != nothing) {
        write(node.scope, out);
        out += "::";
      }
      out += node.text;
      return;
    case Kind::instance:
      write(node.scope, out);
      out += '<';
      write_list(node.parts, 0, out);
      out += '>';
      return;
    case Kind::builtin:
    case Kind::other:
      out += node.text;
      return;
    case Kind::decorated: {
      const MangledNode& inner = nodes_[node.parts[0]];
      if (inner.kind == Kind::function) {
        write(inner.parts[0], out);
        out.append(" (").append(node.text).append(")(");
        write_list(inner.parts, 1, out);
        out += ')';
      } else {
        write(node.parts[0], out);
        out += node.text;
      }
      return;
    }
    case Kind::function:
      write(node.parts[0], out);
      out += " (";
      write_list(node.parts, 1, out);
      out += ')';
      return;
    case Kind::literal: {
      if (node.parts.empty()) {
        out += '&';
        write(node.scope, out);
        return;
      }
      const MangledNode& type = nodes_[node.parts[0]];
      if (type.kind == Kind::builtin && type.text == "bool") {
        out += node.text == "0" ? "false" : "true";
        return;
      }
      if (type.kind != Kind::builtin) {
        out += '(';
        write(node.parts[0], out);
        out += ')';
      }
      if (node.text.substr(0, 1) == "n") {
        out.append("-").append(node.text.substr(1));
      } else {
        out += node.text;
      }
      return;
    }
    case Kind::pack:
      write_list(node.parts, 0, out);
      return;
  }
}

}  // namespace opseal
