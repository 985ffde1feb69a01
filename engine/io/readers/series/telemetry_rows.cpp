#include "engine/io/readers/series/telemetry_rows.h"

#include <algorithm>
#include <tuple>

namespace gpustrata::io {

using model::Diag;

TelemetryRows::TelemetryRows(model::Recording& recording) : recording_(recording) {}

bool TelemetryRows::add(Sample sample) {
  sample.extras_end = static_cast<uint32_t>(extras_.size());
  sample.extras = static_cast<uint32_t>(extras_.size() - taken_extras_);
  taken_extras_ = extras_.size();
  return samples_.size() < model::kMaxRows && samples_.push_back(sample);
}

bool TelemetryRows::add(const Call& call) {
  return calls_.size() < model::kMaxRows && calls_.push_back(call);
}

bool TelemetryRows::add_series(std::string_view name, int32_t device, int32_t first, model::Unit unit) {
  const StringId text = recording_.strings.intern(name);
  const auto count = static_cast<int32_t>(recording_.points.size_rows()) - first;
  return !text.is_none() && recording_.series.append({text, device, {first, count}, unit});
}

bool TelemetryRows::publish_samples() {
  Column<uint32_t> order(recording_.budget);
  int64_t odd = 0, latest = INT64_MIN;
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (samples_[i].of_call) continue;
    odd += samples_[i].time < latest ? 1 : 0;
    latest = std::max(latest, samples_[i].time);
    if (!order.push_back(static_cast<uint32_t>(i))) return false;
  }
  recording_.diagnostics.add_many(Diag::samples_out_of_order, odd);
  std::sort(order.data(), order.data() + order.size(), [&](uint32_t a, uint32_t b) {
    return std::tuple(samples_[a].device, samples_[a].time, a) <
           std::tuple(samples_[b].device, samples_[b].time, b);
  });
  model::PointTable& points = recording_.points;
  for (size_t begin = 0; begin < order.size();) {
    const int32_t device = samples_[order[begin]].device;
    size_t end = begin;
    while (end < order.size() && samples_[order[end]].device == device) ++end;
    for (size_t counter = 0; counter < kCounters; ++counter) {
      const auto first = static_cast<int32_t>(points.size_rows());
      for (size_t i = begin; i < end; ++i) {
        const Sample& sample = samples_[order[i]];
        const int64_t value = sample.values[counter];
        if (counter > 0) {
          if (value != model::kNoValue && !points.append({sample.time, value, {}, {}})) return false;
          continue;
        }
        const auto row = static_cast<int32_t>(points.size_rows());
        if (!points.append({sample.time, value, sample.label, sample.note})) return false;
        for (uint32_t extra = sample.extras_end - sample.extras; extra < sample.extras_end; ++extra) {
          const Extra& one = extras_[extra];
          if (!recording_.extras.append({model::Owner::point, row, one.key, one.value})) return false;
        }
      }
      const bool is_there = counter == 0 || points.size_rows() > static_cast<size_t>(first);
      if (is_there && !add_series(kTelemetryCounters[counter], device, first)) return false;
    }
    begin = end;
  }
  return true;
}

bool TelemetryRows::publish_calls() {
  Column<uint32_t> order(recording_.budget);
  if (!order.resize(calls_.size(), 0)) return false;
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.data(), order.data() + order.size(), [&](uint32_t a, uint32_t b) {
    return std::tuple(calls_[a].device, calls_[a].start, a) <
           std::tuple(calls_[b].device, calls_[b].start, b);
  });
  constexpr std::array<int64_t Call::*, kTelemetryCalls.size()> kValues = {
      &Call::before, &Call::peak, &Call::after, &Call::net, &Call::duration};
  model::PointTable& points = recording_.points;
  for (size_t begin = 0; begin < order.size();) {
    const int32_t device = calls_[order[begin]].device;
    size_t end = begin;
    while (end < order.size() && calls_[order[end]].device == device) ++end;
    // All of a device's series have a point for each call, so that they can be read side by side.
    for (size_t which = 0; which < kValues.size(); ++which) {
      const bool is_time = which + 1 == kValues.size();
      const auto first = static_cast<int32_t>(points.size_rows());
      for (size_t i = begin; i < end; ++i) {
        const Call& call = calls_[order[i]];
        if (!points.append(
                {call.start, call.*kValues[which], call.name, is_time ? call.seconds : StringId{}}))
          return false;
      }
      if (!add_series(kTelemetryCalls[which], device, first,
                      is_time ? model::Unit::nanoseconds : model::Unit::bytes))
        return false;
    }
    const auto first = static_cast<int32_t>(points.size_rows());
    for (size_t i = begin; i < end; ++i) {
      const Call& call = calls_[order[i]];
      if (call.reserved != model::kNoValue && !points.append({call.start, call.reserved, call.name, {}}))
        return false;
    }
    if (points.size_rows() > static_cast<size_t>(first) && !add_series("call_reserved", device, first))
      return false;
    begin = end;
  }
  return true;
}

bool TelemetryRows::publish() {
  model::Part part;
  part.kind = model::PartKind::series;
  part.clock.tick_ns = 1;
  part.series.first = static_cast<int32_t>(recording_.series.size_rows());
  bool whole = publish_samples() && publish_calls();
  part.series.count = static_cast<int32_t>(recording_.series.size_rows()) - part.series.first;
  const auto row = static_cast<int32_t>(recording_.parts.size());
  for (const Extra& fact : facts_) {
    whole = whole && recording_.extras.append({model::Owner::part, row, fact.key, fact.value});
  }
  recording_.parts.push_back(std::move(part));
  return whole;
}

}  // namespace gpustrata::io
