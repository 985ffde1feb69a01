#include "engine/analysis/allocator_settings.h"

#include "engine/base/json_value.h"

namespace gpustrata::analysis {

AllocatorSettings allocator_settings(const model::Recording& recording, const model::Part& part) {
  AllocatorSettings found;
  if (part.settings_json.is_none()) return found;
  const auto settings = parse_json(recording.strings.view(part.settings_json));
  if (!settings || settings->kind != JsonValue::Kind::object || settings->members.empty()) return found;
  found.known = true;
  alloc::Config config;
  const JsonValue* const text = settings->find("PYTORCH_CUDA_ALLOC_CONF");
  if (text != nullptr && text->kind == JsonValue::Kind::text && alloc::apply_settings(config, text->text)) {
    found.expandable_segments = config.expandable_segments;
    found.max_split_size = config.max_split_size;
    if (config.per_process_memory_fraction < 1) found.memory_fraction = config.per_process_memory_fraction;
  }
  const JsonValue* const expandable = settings->find("expandable_segments");
  if (expandable != nullptr && expandable->kind == JsonValue::Kind::flag)
    found.expandable_segments = expandable->flag;
  const JsonValue* const split = settings->find("max_split_size");
  if (split != nullptr && split->kind == JsonValue::Kind::number)
    found.max_split_size =
        split->number > 0 && split->number < 9e18 ? static_cast<int64_t>(split->number) : alloc::kUnlimited;
  return found;
}

}  // namespace gpustrata::analysis
