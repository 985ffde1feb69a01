// The pickle machine, opcode by opcode: each pickle here is the value of an unknown key of an empty snapshot,
// and is compared as the JSON text that is kept of it.
#include "engine/io/encodings/pickle/machine.h"

#include <gtest/gtest.h>

#include "tests/unit/io/py.h"
#include "tests/unit/io/read_file.h"

namespace gpustrata::tests {
namespace {

using model::Diag;
using model::Owner;
using namespace std::string_literals;

std::unique_ptr<ReadFile> read_value(const std::string& opcodes, size_t chunk = 0) {
  return read_bytes("\x80\x04}(\x8c\x08segments]\x8c\x01v"s + opcodes + "u.", {.chunk = chunk});
}

// The same in one piece and byte by byte.
std::string json_of(const std::string& opcodes) {
  const auto whole = read_value(opcodes);
  const auto bytewise = read_value(opcodes, 1);
  EXPECT_EQ(text_of(*whole), text_of(*bytewise));
  if (!whole->status) return whole->status.error().message;
  return whole->extra(Owner::part, 0, "v");
}

TEST(PickleMachine, ReadsIntegersOfAllForms) {
  EXPECT_EQ(json_of("K\xff"s), "255");
  EXPECT_EQ(json_of("M\xff\xff"s), "65535");
  EXPECT_EQ(json_of("J\xff\xff\xff\xff"s), "-1");
  EXPECT_EQ(json_of("I-12\n"s), "-12");
  EXPECT_EQ(json_of("I5\r\n"s), "5");
  EXPECT_EQ(json_of("L123456789012L\n"s), "123456789012");
  EXPECT_EQ(json_of("L18446744073709551615L\n"s), "18446744073709551615");
  EXPECT_EQ(json_of("L-9223372036854775808L\n"s), "-9223372036854775808");
}

TEST(PickleMachine, ReadsLongsOfAnyLength) {
  EXPECT_EQ(json_of("\x8a\0"s), "0");
  EXPECT_EQ(json_of("\x8a\1\xff"s), "-1");
  EXPECT_EQ(json_of("\x8a\2\xff\0"s), "255");
  EXPECT_EQ(json_of("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s), "9223372036854775807");
  EXPECT_EQ(json_of("\x8a\x09\0\0\0\0\0\0\0\x80\0"s), "9223372036854775808");
  EXPECT_EQ(json_of("\x8a\x0c\7\0\0\0\0\0\0\0\0\0\0\0"s), "7");                   // more zeros than needed
  EXPECT_EQ(json_of("\x8a\x0a\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff"s), "-2");  // more signs than needed
  EXPECT_EQ(json_of("\x8a\x09\0\0\0\0\0\0\0\0\1"s), "\"<a number of 9 bytes>\"");
  EXPECT_EQ(json_of("\x8b"s + u32(2) + "\1\2"), "513");
  EXPECT_EQ(json_of("\x8b"s + u32(9000) + std::string(9000, '\1')), "\"<a number of 9000 bytes>\"");
}

TEST(PickleMachine, ReadsFloatsBooleansAndNone) {
  EXPECT_EQ(json_of("G\x3f\xd0\0\0\0\0\0\0"s), "0.25");
  EXPECT_EQ(json_of("F-1.5e3\n"s), "-1500.0");
  EXPECT_EQ(json_of("\x88"s), "true");
  EXPECT_EQ(json_of("\x89"s), "false");
  EXPECT_EQ(json_of("I01\n"s), "true");
  EXPECT_EQ(json_of("I00\n"s), "false");
  EXPECT_EQ(json_of("N"s), "null");
}

TEST(PickleMachine, ReadsStringsOfAllForms) {
  EXPECT_EQ(json_of("\x8c\2ab"s), "\"ab\"");
  EXPECT_EQ(json_of("X\2\0\0\0ab"s), "\"ab\"");
  EXPECT_EQ(json_of("\x8d"s + u64(2) + "ab"), "\"ab\"");
  EXPECT_EQ(json_of("U\2ab"s), "\"ab\"");
  EXPECT_EQ(json_of("T\2\0\0\0ab"s), "\"ab\"");
  EXPECT_EQ(json_of("C\2ab"s), "\"ab\"");
  EXPECT_EQ(json_of("B\2\0\0\0ab"s), "\"ab\"");
  EXPECT_EQ(json_of("\x8e"s + u64(2) + "ab"), "\"ab\"");
  EXPECT_EQ(json_of("\x96"s + u64(2) + "ab"), "\"ab\"");
  EXPECT_EQ(json_of("S'it\\'s \\x41\\n'\n"s), "\"it's A\\n\"");
  EXPECT_EQ(json_of("Va\\u20ac\\U0001f600\xe9\\z\n"s), "\"a\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9\\\\z\"");
}

TEST(PickleMachine, CollectsStringsLargerThanAChunk) {
  const std::string text(10000, 'q');
  EXPECT_EQ(json_of("X"s + u32(text.size()) + text), "\"" + text + "\"");
  EXPECT_EQ(json_of("V"s + text + "\n"), "\"" + text + "\"");
}

TEST(PickleMachine, ReadsContainersOfAllForms) {
  EXPECT_EQ(json_of("]"s), "[]");
  EXPECT_EQ(json_of("](e"s), "[]");
  EXPECT_EQ(json_of("}"s), "{}");
  EXPECT_EQ(json_of("(l"s), "[]");
  EXPECT_EQ(json_of("(d"s), "{}");
  EXPECT_EQ(json_of("(K\1K\2K\3l"s), "[1,2,3]");
  EXPECT_EQ(json_of("(\x8c\1aK\1d"s), R"({"a":1})");
  EXPECT_EQ(json_of("]K\1a"s), "[1]");
  EXPECT_EQ(json_of("}\x8c\1aK\1s"s), R"({"a":1})");
  EXPECT_EQ(json_of("](K\1K\2K\3e(K\4K\5e"s), "[1,2,3,4,5]");
  EXPECT_EQ(json_of("(K\1K\2K\3K\4t"s), "[1,2,3,4]");
  EXPECT_EQ(json_of("N\x85"s), "[null]");
  EXPECT_EQ(json_of("\x8f(K\1K\2K\3\x90"s), "[1,2,3]");
  EXPECT_EQ(json_of("(K\1K\2K\3\x91"s), "[1,2,3]");
}

TEST(PickleMachine, PopDupAndPopMark) {
  EXPECT_EQ(json_of("K\1K\2"
                    "0"s),
            "1");
  EXPECT_EQ(json_of("(K\1K\2"
                    "1K\3"s),
            "3");
  EXPECT_EQ(json_of("](N2e"s), "[null,null]");
  EXPECT_EQ(json_of("](0K\7"
                    "a"s),
            "[7]");  // POP takes a mark, too
}

TEST(PickleMachine, MemoOfAllForms) {
  EXPECT_EQ(json_of("](\x8c\1aq\5h\5e"s), R"(["a","a"])");
  EXPECT_EQ(json_of("](\x8c\1ar\5\0\0\0j\5\0\0\0e"s), R"(["a","a"])");
  EXPECT_EQ(json_of("](\x8c\1ap5\ng5\ne"s), R"(["a","a"])");
  EXPECT_EQ(json_of("](\x8c\1a\x94\x8c\1b\x94h\1h\0e"s), R"(["a","b","b","a"])");
}

TEST(PickleMachine, MemoSlotsMayBeStoredAgain) {
  EXPECT_EQ(json_of("](\x8c\1aq\5\x8c\1bq\5h\5e"s), R"(["a","b","b"])");
  // A container whose slot was taken over before it was complete.
  EXPECT_EQ(json_of("](]q\5\x8c\1bq\5"
                    "0K\1ah\5e"s),
            R"([[1],"b"])");
}

TEST(PickleMachine, NeighboursThatAreOpenAreCompleteWhenReferredTo) {
  EXPECT_EQ(json_of("](]q\1(K\1K\2K\3eh\1e"s), "[[1,2,3],[1,2,3]]");
  EXPECT_EQ(json_of("](]q\1]q\2h\1ae"s), "[[],[[]]]");
  EXPECT_EQ(json_of("](}q\1(\x8c\1aK\1u}q\2(\x8c\1bh\1ue"s), R"([{"a":1},{"b":{"a":1}}])");
}

TEST(PickleMachine, ContainersInsideThemselvesAreCutOpen) {
  const auto list = read_value("]q\1(K\1h\1e");
  EXPECT_EQ(list->extra(Owner::part, 0, "v"), "[1,null]");
  EXPECT_EQ(list->count(Diag::cyclic_reference), 1);
  const auto dict = read_value("}q\1(\x8c\1ah\1u");
  EXPECT_EQ(dict->extra(Owner::part, 0, "v"), R"({"a":null})");
  // t = ([t],) as Python writes it: the list's member comes when the list is already used.
  const auto tuple = read_value(
      "]q\1h\1\x85q\2"
      "a0h\2");
  EXPECT_EQ(tuple->extra(Owner::part, 0, "v"), "[[]]");
  EXPECT_EQ(tuple->count(Diag::late_change), 1);
}

TEST(PickleMachine, MembersAddedTooLateAreTold) {
  const auto file = read_value("](]q\1h\1K\7ae");
  EXPECT_EQ(file->extra(Owner::part, 0, "v"), "[[],[]]");
  EXPECT_EQ(file->count(Diag::late_change), 1);
}

TEST(PickleMachine, KeyWithoutValueIsDropped) {
  const auto file = read_value("}(\x8c\1aK\1\x8c\1bu");
  EXPECT_EQ(file->extra(Owner::part, 0, "v"), R"({"a":1})");
  EXPECT_EQ(file->count(Diag::odd_items), 1);
}

TEST(PickleMachine, ClassesAreOnlyNames) {
  EXPECT_EQ(json_of("cos\nsystem\n"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("\x8c\2os\x8c\6system\x93"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("cos\nsystem\n\x8c\4true\x85R"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("cos\nsystem\n)\x81"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("cos\nsystem\n)}\x92"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("cos\nsystem\n)R}b"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("(\x8c\4trueios\nsystem\n"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("(cos\nsystem\n\x8c\4trueo"s), "\"<os.system>\"");
  EXPECT_EQ(json_of("Pweights\n"s), "\"<a persistent id>\"");
  EXPECT_EQ(json_of("K\1Q"s), "\"<a persistent id>\"");
  EXPECT_EQ(json_of("\x82\1"s), "\"<an extension code>\"");
}

TEST(PickleMachine, FirstForeignClassIsTold) {
  const auto file = read_value("](cos\nsystem\ncnumpy\nndarray\ne");
  EXPECT_EQ(file->count(Diag::foreign_object), 2);
  EXPECT_EQ(file->recording.diagnostics[Diag::foreign_object].detail, "os.system");
  EXPECT_EQ(file->recording.diagnostics[Diag::foreign_object].first_offset, 20);
}

TEST(PickleMachine, PlainClassesAreSeenThrough) {
  EXPECT_EQ(json_of("ccollections\nOrderedDict\n)Rq\1(\x8c\1aK\1u"s), R"({"a":1})");
  EXPECT_EQ(json_of("ccollections\ndefaultdict\ncbuiltins\nlist\n\x85Rq\1(\x8c\1aK\1u"s), R"({"a":1})");
  EXPECT_EQ(json_of("ctorch\nSize\n(K\1K\2K\3t\x85R"s), "[1,2,3]");
  EXPECT_EQ(json_of("ctorch.jit._pickle\nbuild_intlist\n](K\1K\2K\3e\x85R"s), "[1,2,3]");
  EXPECT_EQ(json_of("c__builtin__\nset\n](K\1K\2K\3e\x85R"s), "[1,2,3]");
  EXPECT_EQ(json_of("c_codecs\nencode\n\x8c\2ab\x8c\6latin1\x86R"s), "\"ab\"");
  EXPECT_EQ(json_of("ccollections\ndeque\n)R(K\1K\2K\3e"s), "[1,2,3]");
}

TEST(PickleMachine, PlainClassesNeedNoRemark) {
  EXPECT_EQ(read_value("ccollections\nOrderedDict\n)R(\x8c\1aK\1u")->count(Diag::foreign_object), 0);
}

TEST(PickleMachine, SnapshotInTheStateOfAnObjectIsFound) {
  const std::string snapshot = "}(\x8c\x08segments]u"s;
  const auto file = read_bytes(
      "\x80\x04"
      "cmy\nRecord\n)\x81}\x8c\4snap"s +
      snapshot + "sb.");
  ASSERT_TRUE(file->status) << file->status.error().message;
  EXPECT_EQ(file->recording.parts[0].name, "snap");
}

TEST(PickleMachine, SnapshotAsOrderedDictIsRead) {
  const auto file = read_bytes(
      "\x80\x04"
      "ccollections\nOrderedDict\n)R\x94(\x8c\x08segments]\x8c\x0d"
      "device_traces](]eu."s);
  ASSERT_TRUE(file->status) << file->status.error().message;
  EXPECT_EQ(file->recording.parts[0].traces.size(), 1U);
}

TEST(PickleMachine, ProtocolHeaderMayBeMissing) { EXPECT_TRUE(read_bytes("}(\x8c\x08segments]u.")->status); }

TEST(PickleMachine, ProtocolsFromTheFutureAreRefused) {
  const auto file = read_bytes("\x80\x06}(\x8c\x08segments]u.");
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::unsupported);
  EXPECT_EQ(file->status.error().message, "pickle protocol 6 is not known (the highest one is 5)");
}

TEST(PickleMachine, BuffersOutsideTheFileAreRefused) {
  const auto file = read_value("\x97");
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::unsupported);
  EXPECT_EQ(file->status.error().offset, 18);
}

TEST(PickleMachine, ImpossibleBytesAreDamageAtTheirOffset) {
  for (const std::string& bad : {"\xff"s,
                                 "e"s,
                                 "u"s,
                                 "t"s,
                                 "K\1a"s,
                                 "\x87"s,
                                 "h\x77"s,
                                 "I5x\n"s,
                                 "F1.5.5\n"s,
                                 "Sabc\n"s,
                                 "gx\n"s,
                                 "p-1\n"s,
                                 "R"s,
                                 "b"s,
                                 "\x93"s,
                                 "o"s,
                                 "ia\nb\n"s,
                                 "T\xff\xff\xff\xff"s,
                                 "\x8b\xff\xff\xff\xff"s,
                                 "r\xff\xff\xff\xff"s,
                                 "P"s + std::string(5000, 'p'),
                                 "c"s + std::string(5000, 'm')}) {
    const auto file = read_bytes("\x80\x04"s + bad);
    ASSERT_FALSE(file->status) << bad.substr(0, 10);
    EXPECT_EQ(file->status.error().code, ErrorCode::invalid_format) << bad.substr(0, 10);
    EXPECT_GE(file->status.error().offset, 2) << bad.substr(0, 10);
    EXPECT_LE(file->status.error().offset, 4) << bad.substr(0, 10);
  }
}

TEST(PickleMachine, EmptyInputIsTruncated) {
  const auto file = read_bytes("");
  ASSERT_FALSE(file->status);
  EXPECT_EQ(file->status.error().code, ErrorCode::truncated);
  EXPECT_EQ(file->status.error().message, "the file is empty");
}

}  // namespace
}  // namespace gpustrata::tests
