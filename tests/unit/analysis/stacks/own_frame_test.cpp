#include "engine/analysis/stacks/own_frame.h"

#include <gtest/gtest.h>

#include "engine/answers/stacks/who.h"
#include "tests/unit/analysis/story.h"

namespace gpustrata::analysis {
namespace {

struct Named {
  const char *name, *file;
  int line;
};

class Whom : public ::testing::Test {
 protected:
  StackId stack(std::initializer_list<Named> innermost_first) {
    std::vector<FrameId> frames;
    for (const Named& one : innermost_first) frames.push_back(story.frame(one.name, one.file, one.line));
    return story.recording.stacks.intern(frames);
  }
  // As one stack of its own and as one of many: both must agree.
  std::string who(std::initializer_list<Named> innermost_first) {
    const StackId id = stack(innermost_first);
    WhoOfStacks many(story.recording);
    EXPECT_TRUE(many.prepare());
    const std::string alone = answers::who_text(story.recording, who_of(story.recording, id));
    EXPECT_EQ(alone, answers::who_text(story.recording, many(id)));
    return alone;
  }

  Story story;
};

constexpr const char* kApply = "torch::autograd::generated::DivBackward0::apply(std::vector<at::Tensor>&&)";
constexpr const char* kCall = "at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&)";

TEST(OriginOfAFrame, CompiledCodeIsKnownByTheEndOfItsFileAlone) {
  EXPECT_EQ(origin_of("f", "/home/a/x.h/train.py"), Origin::own);
  EXPECT_EQ(origin_of("f", "/home/a/my.cpp.d/run.hpc.py"), Origin::own);
  EXPECT_EQ(origin_of("f", "/build/aten/Tensor.h"), Origin::library);
  EXPECT_EQ(origin_of("f", "C:\\src\\Tensor.CPP"), Origin::library);
  EXPECT_EQ(origin_of("f", "/usr/lib/libcuda.so.1.2"), Origin::library);
  EXPECT_EQ(origin_of("f", "/home/a/model.source.py"), Origin::own);
}

TEST(OriginOfAFrame, LibrariesPackagesAndTheInterpreter) {
  EXPECT_EQ(origin_of("f", "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py"), Origin::library);
  EXPECT_EQ(origin_of("f", "/venv/lib/python3.11/site-packages/transformers/trainer.py"), Origin::package);
  EXPECT_EQ(origin_of("f", "/usr/lib/python3.11/threading.py"), Origin::library);
  EXPECT_EQ(origin_of("f", "/src/pytorch/torch/_inductor/graph.py"), Origin::library);
  EXPECT_EQ(origin_of("f", "<string>"), Origin::library);
  EXPECT_EQ(origin_of("f", "??"), Origin::library);
  EXPECT_EQ(origin_of("_PyEval_EvalFrame", "??"), Origin::interpreter);
  EXPECT_EQ(origin_of("f", "/home/a/torch_model/train.py"), Origin::own);
  EXPECT_EQ(origin_of("handle_torch_function", "torch/overrides.py"), Origin::library);
  EXPECT_EQ(origin_of("f", "torch.py"), Origin::own);
  EXPECT_EQ(origin_of("f", "torches/train.py"), Origin::own);
}

// As a journal has them.
TEST(OriginOfAFrame, AddressesInsideOfTheInterpreterAndOfCuda) {
  EXPECT_EQ(origin_of("python3.11+0x1081", "/usr/bin/python3.11"), Origin::interpreter);
  EXPECT_EQ(origin_of("libpython3.13t.so.1.0+0x1081", "/usr/lib/libpython3.13t.so.1.0"), Origin::interpreter);
  EXPECT_EQ(origin_of("libcudart.so.12+0x22", "/v/nvidia/cuda_runtime/lib/libcudart.so.12"),
            Origin::interpreter);
  EXPECT_EQ(origin_of("libcudart-d0da41ae.so.11.0+0x22", "/v/torch/lib/libcudart-d0da41ae.so.11.0"),
            Origin::interpreter);
  EXPECT_EQ(origin_of("libcuda.so.1+0x22", "/usr/lib/libcuda.so.1"), Origin::interpreter);
  EXPECT_EQ(origin_of("libnccl.so.2+0x22", "/v/nvidia/nccl/lib/libnccl.so.2"), Origin::library);
  EXPECT_EQ(origin_of("python3_trainer+0x22", "/home/a/python3_trainer"), Origin::own);
  EXPECT_EQ(origin_of("a.out+0x22", "/home/a/a.out"), Origin::own);
}

TEST_F(Whom, TheInnermostOwnFrameStandsForAStack) {
  EXPECT_EQ(who({{"einsum", "/v/site-packages/torch/functional.py", 5},
                 {"attend", "/home/a/model.py", 42},
                 {"main", "/home/a/train.py", 7}}),
            "attend model.py:42");
}

TEST_F(Whom, AnInstalledPackageIsTheUsersOwnWhereNothingNearerIs) {
  EXPECT_EQ(who({{"einsum", "/v/site-packages/torch/functional.py", 5},
                 {"step", "/v/site-packages/trainer/loop.py", 3},
                 {"main", "/home/a/train.py", 7}}),
            "main train.py:7");
  EXPECT_EQ(who({{"einsum", "/v/site-packages/torch/functional.py", 5},
                 {"step", "/v/site-packages/trainer/loop.py", 3},
                 {"run", "/v/site-packages/trainer/cli.py", 9}}),
            "step loop.py:3");
  const OwnFrames own(story.recording, stack({{"step", "/v/site-packages/trainer/loop.py", 3}}));
  EXPECT_TRUE(own.is_own(story.frame("step", "/v/site-packages/trainer/loop.py", 3)));
}

TEST_F(Whom, StacksOfCppAloneSayTheAutogradNodeOrTheOutermostOperator) {
  EXPECT_EQ(who({{"c10::cuda::allocate", "??", 0},
                 {"at::_ops::empty::call()", "??", 0},
                 {kCall, "??", 0},
                 {kApply, "Functions.cpp", 3},
                 {"torch::autograd::Engine::thread_main()", "engine.cpp", 1}}),
            "DivBackward0");
  EXPECT_EQ(who({{"at::_ops::empty::call()", "??", 0}, {kCall, "??", 0}, {"main", "??", 0}}), "aten::add");
  EXPECT_EQ(who({{"at::_ops::add__Scalar_out::call()", "??", 0}}), "aten::add_");
  EXPECT_EQ(who({{"c10::cuda::allocate", "??", 0}, {"f", "a.cpp", 4}}), "c10::cuda::allocate");
}

TEST_F(Whom, PythonOfLibrariesComesBeforeOperators) {
  EXPECT_EQ(who({{kCall, "??", 0}, {"run", "/v/site-packages/torch/optim/adam.py", 8}}), "run adam.py:8");
}

TEST_F(Whom, NothingIsSaidOfNoStackAndOfAnEmptyOne) {
  EXPECT_EQ(who({}), "");
  EXPECT_EQ(who_of(story.recording, StackId()).kind, Who::Kind::nothing);
}

TEST_F(Whom, OneOperatorIsOneWhoeverCallsIt) {
  const StackId a = stack({{"at::_ops::add_Tensor::redispatch()", "A.cpp", 1}});
  const StackId b = stack({{kCall, "B.cpp", 2}});
  WhoOfStacks many(story.recording);
  ASSERT_TRUE(many.prepare());
  EXPECT_EQ(many(a).frame.value, many(b).frame.value);
}

}  // namespace
}  // namespace gpustrata::analysis
