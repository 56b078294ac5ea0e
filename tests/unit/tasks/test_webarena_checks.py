"""The verdicts of the public evaluators, by example. tests/compare/webarena_evaluators.py holds them side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clickgrad.codec import from_plain, to_plain
from clickgrad.tasks.checks import judge
from clickgrad.tasks.webarena.checks import needs_judge, questions
from clickgrad.tasks.webarena.tokens import stands_alone
from clickgrad.types import Check, Evidence, Outcome, Task
from clickgrad.webarena import AnswerRule, Dialect, Opinion, Probe, ProgramHtml, Question, StringMatch, Target, UrlMatch

NOTHING = Evidence(None, "http://wa.test:7770/", "", ())
FAILED, PASSED, UNJUDGED = Outcome.FAILED, Outcome.PASSED, Outcome.UNJUDGED


def outcome(check: Check, evidence: Evidence) -> Outcome:
    return judge(task_with(check), evidence).outcome


def task_with(*checks: Check) -> Task:
    return Task("webarena.1", "webarena", "test", ("shopping",), "1", "Why?", "http://wa.test:7770", checks)


def answered(answer: str | None, how: str, *expected: str) -> Outcome:
    return outcome(StringMatch((AnswerRule(how, expected),)), replace(NOTHING, answer=answer))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("N/A", PASSED),
        (" n/a ", PASSED),
        ("'N/A'", PASSED),
        ("\"'n/a'\"", PASSED),  # one pair when it is taken, one more when it is compared
        ('"\'"n/a"\'"', FAILED),
        ("N/A.", FAILED),
        ('"N/A', FAILED),
        ("", FAILED),
        (None, FAILED),
    ],
)
def test_an_exact_answer_may_differ_in_case_spaces_and_quotes(answer: str | None, verdict: Outcome) -> None:
    assert answered(answer, "exact_match", "N/A") is verdict


def test_texts_that_have_to_be_included_are_plain_substrings() -> None:
    assert answered("Sprite Stasis Ball 65 CM, sprite YOGA strap", "must_include", "65 cm", "Yoga") is PASSED
    assert answered("a 165 cm yogamat", "must_include", "65 cm", "Yoga") is PASSED
    assert answered("yoga 65  cm", "must_include", "65 cm", "Yoga") is FAILED
    assert answered("3", "must_include", "65 |OR| 3") is FAILED  # the evaluators split alternatives on pages only


def test_a_single_character_has_to_stand_alone_if_it_is_all_that_is_expected() -> None:
    assert answered("There are 0.", "must_include", "0") is PASSED
    assert answered("There are 10", "must_include", "0") is FAILED
    assert answered("There are 10, or 5", "must_include", "0", "5") is PASSED


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("5", True), ("5.", True), ("(5)", True), ("$5", True), ("5%", True), ("5, or 6", True), ("5,6", False),
        ("5:30", False), ("at 5: go", True), ("5.2", False), ("5...", True), ("5. it is", False), ("5. 6 more", True),
        ("5. (so)", True), ("$5. it is", True), ("'5'", True), ("5's", True), ("5-6", False), ("5--6", True),
        ("5/6", False), ("a5", False), ("“5”", True), ("5.)", True), ("5!", True), ("5–6", True), ("-5", False),
    ],
)  # fmt: skip
def test_words_are_parted_as_by_the_evaluators_tokenizer(text: str, alone: bool) -> None:
    assert stands_alone("5", text) is alone


GOLD = "http://wa.test:7770/catalog?cat=3&sort=price"


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        (GOLD, PASSED),
        ("https://wa.test:7770/catalog/deeper?sort=price&cat=3&page=2#top", PASSED),
        ("http://x.test/wa.test:7770/catalog?cat=3&sort=price", PASSED),  # containment, as theirs
        ("http://wa.test:7770/catalog?cat=4&cat=3&sort=price", PASSED),
        ("http://wa.test:7770/catalog?cat=3", FAILED),
        ("http://wa.test:7770/catalog?cat=33&sort=price", FAILED),
        ("http://wa.test:7770/cat?cat=3&sort=price", FAILED),
        ("http://wb.test:7770/catalog?cat=3&sort=price", FAILED),
    ],
)
def test_an_address_contains_the_expected_one_with_its_parameters(url: str, verdict: Outcome) -> None:
    assert outcome(UrlMatch((GOLD,)), replace(NOTHING, url=url)) is verdict


def test_a_fragment_counts_where_one_is_expected() -> None:
    check = UrlMatch(("http://a.test/x#/issues",))
    assert outcome(check, replace(NOTHING, url="http://a.test/x#/issues")) is PASSED
    assert outcome(check, replace(NOTHING, url="http://a.test/x#/members")) is FAILED
    assert outcome(UrlMatch(("http://a.test/x",)), replace(NOTHING, url="http://a.test/x#/members")) is PASSED


def test_of_several_addresses_one_will_do_and_their_values_are_pooled() -> None:
    check = UrlMatch(("http://a.test/x?q=1", "http://a.test/y?q=2"))
    assert outcome(check, replace(NOTHING, url="http://a.test/y?q=1")) is PASSED
    assert outcome(check, replace(NOTHING, url="http://a.test/y?q=3")) is FAILED
    assert outcome(check, replace(NOTHING, url="http://a.test/z?q=1")) is FAILED


def looked(text: str | None, how: str, *expected: str, dialect: Dialect = "webarena") -> Outcome:
    check = ProgramHtml((Target("last", "document.x", how, expected),), dialect)  # type: ignore[arg-type]
    return outcome(check, replace(NOTHING, probes=(Probe("last", "document.x", text),), opinions=()))


def test_a_page_is_compared_as_an_answer_is_but_with_alternatives() -> None:
    assert looked(" Guest ", "exact_match", "guest") is PASSED
    assert looked("guests", "exact_match", "guest") is FAILED
    assert looked("a plain site and CSS", "must_include", "jekyll |OR| plain", "css") is PASSED
    assert looked("a plain site", "must_include", "jekyll |OR| plain", "css") is FAILED
    assert looked("10", "must_include", "0") is PASSED
    assert looked("", "must_include", "x") is FAILED
    assert looked(None, "must_include", "x") is FAILED


def test_only_webarenas_own_evaluator_decodes_html() -> None:
    assert looked("Tom &amp; Ann", "must_include", "Tom & Ann") is PASSED
    assert looked("Tom &amp; Ann", "must_include", "Tom & Ann", dialect="lite") is FAILED


def test_every_place_counts_and_one_that_was_not_looked_at_leaves_it_open() -> None:
    targets = tuple(Target("last", locator, "must_include", ("x",)) for locator in ("a", "b"))
    probes = tuple(Probe("last", locator, "x") for locator in ("a", "b"))
    check = ProgramHtml(targets, "webarena")
    assert outcome(check, replace(NOTHING, probes=probes)) is PASSED
    assert outcome(check, replace(NOTHING, probes=(probes[0], replace(probes[1], text="y")))) is FAILED
    assert outcome(check, replace(NOTHING, probes=probes[:1])) is UNJUDGED


FUZZY = StringMatch((AnswerRule("must_include", ("Acadia",)), AnswerRule("fuzzy_match", ("1h", "by car"))))
UNACHIEVABLE = StringMatch((AnswerRule("ua_match", ("there is no such shop",)),))


@pytest.mark.parametrize("answer", ["Acadia, 1h by car", "something else", "N/A", None])
@pytest.mark.parametrize("check", [FUZZY, UNACHIEVABLE])
def test_what_takes_a_judge_is_open_without_one_whatever_the_answer(check: StringMatch, answer: str | None) -> None:
    verdict = judge(task_with(check, UrlMatch(("http://elsewhere.test",))), replace(NOTHING, answer=answer))
    assert verdict.outcome is UNJUDGED
    assert "takes a judge" in verdict.results[0].reason


def opinions(check: StringMatch, answer: str, *agrees: bool | None) -> Evidence:
    asked = questions(task_with(check), answer, ())
    given = tuple(Opinion(question, said, "") for question, said in zip(asked, agrees, strict=True))
    return replace(NOTHING, answer=answer, opinions=given)


def test_every_reference_is_asked_for_by_itself() -> None:
    assert questions(task_with(FUZZY), ' "Acadia" ', ()) == (
        Question("fuzzy_match", "1h", "acadia"),
        Question("fuzzy_match", "by car", "acadia"),
    )
    assert outcome(FUZZY, opinions(FUZZY, "Acadia", True, True)) is PASSED
    assert outcome(FUZZY, opinions(FUZZY, "Acadia", True, False)) is FAILED
    assert outcome(FUZZY, opinions(FUZZY, "Acadia", True, None)) is UNJUDGED
    assert outcome(FUZZY, opinions(FUZZY, "Yosemite", True, True)) is FAILED
    assert outcome(FUZZY, replace(NOTHING, answer=None, opinions=())) is FAILED


def test_not_achievable_is_right_by_itself_and_any_other_word_needs_the_right_reason() -> None:
    assert questions(task_with(UNACHIEVABLE), "N/A", ()) == ()
    assert outcome(UNACHIEVABLE, opinions(UNACHIEVABLE, "n/a")) is PASSED
    assert outcome(UNACHIEVABLE, opinions(UNACHIEVABLE, "I found no shop", True)) is PASSED
    assert outcome(UNACHIEVABLE, opinions(UNACHIEVABLE, "Done", False)) is FAILED


def test_a_reason_for_giving_up_overrules_the_rules_before_it() -> None:
    both = StringMatch((AnswerRule("must_include", ("x",)), UNACHIEVABLE.rules[0]))
    assert outcome(both, opinions(both, "no such shop", True)) is PASSED
    assert outcome(both, opinions(both, "N/A", False)) is FAILED


def test_a_page_may_take_a_judge_too() -> None:
    check = ProgramHtml((Target("last", "", "fuzzy_match", ("refund", "12.99")),), "lite")
    probe = Probe("last", "", "Please give me my $12.99 back")
    (asked,) = questions(task_with(check), None, (probe,))
    assert asked == Question("fuzzy_match", "refund, 12.99", "Please give me my $12.99 back")
    evidence = replace(NOTHING, probes=(probe,))
    assert outcome(check, evidence) is UNJUDGED
    assert outcome(check, replace(evidence, opinions=(Opinion(asked, True, "correct"),))) is PASSED


def test_which_tasks_take_a_judge_is_known_beforehand() -> None:
    assert needs_judge(task_with(UrlMatch(("http://a",)), FUZZY))
    assert not needs_judge(task_with(UrlMatch(("http://a",)), StringMatch((AnswerRule("exact_match", ("N/A",)),))))


def test_checks_and_evidence_can_be_stored_and_read_again() -> None:
    task = task_with(FUZZY, UrlMatch((GOLD,)), ProgramHtml((Target("last", "", "exact_match", ("a",)),), "lite"))
    assert from_plain(Task, to_plain(task)) == task
    evidence = replace(opinions(FUZZY, "Acadia", True, None), probes=(Probe("last", "", None),))
    assert from_plain(Evidence, to_plain(evidence)) == evidence
