// The program's own thread as a walk over call sites: for each of its allocations the lines of Python that asked for it.
//
// A call site is a line of a function with all its callers, a node of a tree whose root is the program. Frames that are
// not Python's are left out: compiled ones differ from call to call, and unwinders cut them. So are threads that a
// library started (autograd's, a loader's): what they ask for comes between the program's own calls at any time.
// O(events + frames log frames).
#pragma once

#include <cstdint>

#include "engine/base/column.h"
#include "engine/model/recording.h"

namespace gpustrata::analysis {

inline constexpr int32_t kMostCallDepth = 100;  // outermost frames that are looked at

struct CallSite {
  int32_t caller;    // a lower number; -1 = this is the root
  FrameId frame;     // none = the root
  int32_t depth;     // the root's is 0
  int32_t function;  // a number for its name and file
  bool within;  // its function, or one of its callers', is a module's, an optimizer's, autograd's, or sets up
  bool optimizer, backward;  // this function's own
};

class CallSites {
 public:
  static constexpr int32_t kRoot = 0;

  explicit CallSites(const model::Recording& recording);
  // `events` are of one device. False = no memory.
  [[nodiscard]] bool walk(model::RowRange events);

  // The parting of two sites: their last common one, and its next on the way to either; -1 = it is that one itself.
  struct Parting {
    int32_t at, from, to;
  };
  [[nodiscard]] Parting parting(int32_t from, int32_t to) const;

  // Calls `visit(site)` for every site that is come to with that step of the walk, innermost first.
  template <typename Visit>
  void each_entered(const Parting& parting, int32_t to, const Visit& visit) const {
    for (int32_t one = to; one != parting.at; one = sites[one].caller) visit(one);
  }

  // The innermost site of a stack; the root if it has none.
  [[nodiscard]] int32_t of_stack(StackId stack) const;
  [[nodiscard]] int32_t line(int32_t site) const;

  Column<CallSite> sites;  // callers first
  // Per allocation of the program's own thread.
  Column<int32_t> event, site;

 private:
  [[nodiscard]] bool number_functions();
  [[nodiscard]] bool add_sites();
  [[nodiscard]] int32_t find_or_add(const CallSite& one);
  [[nodiscard]] size_t slot_of(int32_t caller, FrameId frame) const;
  [[nodiscard]] bool grow_table();

  const model::Recording& recording_;
  Column<int32_t> function_of_frame_{recording_.budget};
  Column<uint8_t> kind_of_frame_{recording_.budget};
  Column<int32_t> site_of_node_{recording_.budget};
  Column<uint8_t> own_{recording_.budget};    // per site: of the program's own thread
  Column<int32_t> table_{recording_.budget};  // of sites, by caller and frame; -1 = free
};

}  // namespace gpustrata::analysis
