"""What a user can set: TOML files and `--set a.b=value`, checked before anything starts. Only recipes read it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clickgrad.errors import UserError, did_you_mean, warn

ForksArm = Literal["cloning", "paper", "evidence", "starts", "branches", "replay", "all"]
BaselinesArm = Literal[
    "cloning",
    "filtered-bc-offline",
    "awr-offline",
    "filtered-bc",
    "awr",
    "digirl",
    "webrl-paper",
    "webrl-code",
    "m-grpo",
]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ModelSection(Section):
    path: str = "smollm2"  # a transformers folder, a Hugging Face id, or the embedded smollm2
    device: Literal["auto", "cpu", "cuda"] = "auto"  # auto is the GPU where there is one
    dtype: Literal["float32", "bfloat16"] = "float32"  # of the weights
    # The type of products: float32 is exact; bfloat16 rounds, int8 rounds more and only what is sampled, on the CPU;
    # auto is what this CPU is fastest with, by measuring. Weights and optimizer stay in model.dtype.
    compute: Literal["float32", "bfloat16", "int8", "auto"] = "float32"
    threads: int = Field(0, ge=0)  # of torch; 0 leaves the choice to torch
    context_tokens: int = Field(0, ge=0)  # the longest prompt with its reply; 0 is all that the model can read


class EachSection(Section):
    """How many tasks of every template the splits have. All three, or none: then it is the suite's own number."""

    train: int = Field(0, ge=0)  # of the split train
    test: int = Field(0, ge=0)  # of the split test
    demo: int = Field(0, ge=0)  # of the split demo


class TasksSection(Section):
    suite: str = "pocket"  # or the path of a JSON file of tasks
    seed: int = 0  # of the universe
    sites: list[str] = []  # only tasks on these; empty means all
    templates: list[str] = []  # only these; empty means all
    max_expert_turns: int = Field(0, ge=0)  # only tasks that an expert does in so many turns; 0 means all
    each: EachSection = EachSection()  # of pocket: another number of instances


class AgentSection(Section):
    reply_format: Literal["plain", "thinking"] = "plain"  # a remark and an action, or thoughts in <think> before it
    system: Literal["short", "full"] = "short"  # the system prompt: in two lines, or with all actions explained
    rendering: Literal["outline", "html"] = "outline"  # how a page is told; html is the paper's
    actions: Literal["paper", "full"] = "paper"  # the paper's fourteen, or all that docs/actions.md lists
    grammar: Literal["strict", "lenient"] = "lenient"  # lenient reads what can be read in one way only
    files: str = ""  # a folder, the files of which may be uploaded; only with actions = "full"
    page_tokens: int = Field(320, ge=16)  # of a page at most; the rest is below, to be scrolled to
    max_turns: int = Field(8, ge=1)  # of an episode
    max_new_tokens: int = Field(48, ge=1)  # of a reply

    @model_validator(mode="after")
    def _has_hands_for_files(self) -> AgentSection:
        if self.files and self.actions != "full":
            raise ValueError('agent.files does nothing without agent.actions = "full"')
        return self


class RolloutSection(Section):
    concurrency: int = Field(16, ge=1)  # episodes at once
    browsers: int = Field(1, ge=1)  # that the episodes are spread over; more help only where there are many cores
    site_sessions: int = Field(0, ge=0)  # episodes at once on a site, where its host bears no more; 0 is no limit
    retries: int = Field(2, ge=0)  # of an episode that our machinery lost
    episode_s: float = Field(600.0, gt=0)  # seconds after which an episode counts as lost
    reply_s: float = Field(300.0, gt=0)  # seconds after which a reply counts as lost
    screenshots: bool = False  # of every turn of training rollouts and demonstrations, too
    settle_s: float = Field(0.05, gt=0)  # an action is over when nothing has changed for so long
    # Pages live in everybody's time; false gives them one of their own, of which settle_s passes after an action. That
    # is an experiment: pages are sometimes read too early on a busy machine.
    real_time: bool = True


class LoraSection(Section):
    rank: int = Field(16, ge=0)  # 0 trains all parameters
    alpha: int = Field(32, ge=1)  # what the adapter adds is scaled by alpha / rank
    layers: int = Field(0, ge=0)  # only the last so many layers have adapters, so learning ends there; 0 means all

    @model_validator(mode="after")
    def _has_adapters(self) -> LoraSection:
        if self.layers and not self.rank:
            raise ValueError("lora.layers does nothing with lora.rank=0, which trains all parameters")
        return self


class LearnerSection(Section):
    """How an update is computed, in cloning and in reinforcement."""

    recompute: bool = False  # layers are computed again on the way back, not kept: less memory, up to half more time


class CloneSection(Section):
    demos: int = Field(0, ge=0)  # how many, drawn at random; 0 means all there are
    # How the experts explain their actions: in short, at length, or through a hosted model, as chat:<model>.
    remarks: str = Field("short", pattern=r"^(short|long|chat:.+)$")
    epochs: int = Field(1, ge=1)  # how often every demonstration is learned from
    minutes: float = Field(0.0, ge=0)  # no further step begins after so many, and the rate stays; 0 is no limit
    clock: Literal["wall", "cpu"] = "wall"  # what minutes are counted by; cpu: of all cores and processes of the run
    held_out: float = Field(0.0, ge=0, lt=1)  # share of the demonstrations only to measure the loss on, every epoch
    patience: int = Field(0, ge=0)  # stop after so many epochs without a lower held-out loss; 0 never does
    lr: float = Field(1e-3, gt=0)  # learning rate at its peak
    warmup: float = Field(0.05, ge=0, le=1)  # share of the steps in which the rate rises
    batch: int = Field(16, ge=1)  # turns, filled up with whole demonstrations
    micro_tokens: int = Field(2048, ge=1)  # of one pass of an update; less takes less memory
    layout: Literal["rows", "comb"] = "comb"  # rows one by one, or combed: what they share is computed once
    save_every: int = Field(10, ge=1)  # steps between checkpoints


class ReinforceSection(Section):
    algorithm: Literal["m-grpo", "filtered-bc", "awr", "digirl", "webrl"] = "m-grpo"  # the paper's, or a baseline
    rollouts: str = ""  # a run or a file of trajectories, to learn from in one pass without playing; not for m-grpo
    batch: int = Field(0, ge=0)  # turns of an optimizer step, not for m-grpo; 0 is all that a phase teaches
    steps: int = Field(10, ge=1)  # of the optimizer; of a baseline, phases
    groups: int = Field(4, ge=1)  # tasks a step
    group_size: int = Field(8, ge=1)  # episodes of a task in a step; at least 2 for m-grpo
    max_refills: int = Field(4, ge=0)  # groups sampled anew in a step when all members have the same reward
    lr: float = Field(1e-4, gt=0)  # learning rate
    clip: float = Field(0.2, gt=0)  # how far a token's probability may move in an update
    clip_high: float = Field(0.0, ge=0)  # the clip's upper side, where it is another one; 0 is the same
    kl_beta: float = Field(0.001, ge=0)  # weight of the KL to the start policy; 0 leaves it out
    normalizer: Literal["paper", "constant", "token"] = "paper"  # by turns, a constant, or each token alike
    divisor: Literal["std", "none", "mean"] = "std"  # of advantages: the group's spread, nothing, its mean reward
    average_over: Literal["mixed", "asked"] = "mixed"  # a step's loss: groups with contrast, or all it asked for
    warmup: int = Field(0, ge=0)  # steps over which the rate rises to lr
    require_exit: bool = False  # an episode that its limits end is not solved, in learning
    turn_discount: float = Field(1.0, gt=0, le=1)  # of a success, for every turn after the first
    # What a turn is compared with: its episode's group; turns taken in the same context; also on the same world's page.
    credit: Literal["episode", "tree", "world"] = "episode"
    # Prefer tasks that were solved about half of the time: of all tries so far, or of those lately, as a posterior.
    curriculum: bool | Literal["posterior"] = False
    first_part: int = Field(0, ge=0)  # a group begins with so many, and grows unless it will be flat; 0 is all at once
    # Every other group begins part of the way along: demonstrations of cloning, any expert's, the policy's successes.
    starts: Literal["none", "demos", "experts", "own"] = "none"
    demos: str = ""  # for starts: the file of demonstrations; empty is the one beside the model to start from
    branches: int = Field(0, ge=0)  # further ways to go on from a turn of an episode
    forks: int = Field(1, ge=1)  # episodes of a group that branch, each at one turn; counts where there are branches
    replay: int = Field(0, ge=0)  # earlier successes that join a group which failed as a whole
    replay_age: int = Field(10, ge=1)  # steps after which a success is no longer replayed
    ratio_bound: float = Field(0.0, ge=0)  # turns whose mean ratio is outside [1/bound, bound] are left out; 0 is off
    probe_every: int = Field(0, ge=0)  # steps between two looks at the same training tasks, set aside; 0 never looks
    probe_tasks: int = Field(24, ge=1)  # how many of them
    minutes: float = Field(0.0, ge=0)  # no further step begins after so many; 0 is no limit
    episodes: int = Field(0, ge=0)  # no further step begins after so many; 0 is no limit
    clock: Literal["wall", "cpu"] = "wall"  # what minutes are counted by; cpu: of all cores and processes of the run
    max_staleness: int = Field(0, ge=0)  # steps by which sampling may run ahead of learning; 0 is strictly on-policy
    updates: int = Field(1, ge=1)  # over what a step teaches; from the second on m-grpo's clip may act
    # Corrects for a sampler unlike the trainer, truncated here; 0 is off, unless model.compute rounds: then it is 2.
    importance_cap: float = Field(0.0, ge=0)
    temperature: float = Field(1.0, gt=0)  # of sampling
    shuffle_rewards: bool = False  # a control: the rewards of a group are shuffled, so nothing is learned
    micro_tokens: int = Field(2048, ge=1)  # of one pass of an update; less takes less memory
    layout: Literal["rows", "comb"] = "comb"  # rows one by one, or combed: what they share is computed once
    save_every: int = Field(1, ge=1)  # steps between checkpoints
    keep: int = Field(2, ge=1)  # checkpoints: the last so many, and the one with the best success
    engine: str = "torch"  # who samples: torch, or vllm
    servers: list[str] = []  # URLs of vLLM servers that run already; empty starts one on this machine
    vllm_options: list[str] = []  # further words of the command line of the one that is started


class ValuesSection(Section):
    """What is expected of a state, for awr, digirl and webrl."""

    # A head on the hidden state of a prompt's last token; tables by template and page; playing on from every turn.
    kind: Literal["head", "table", "exact"] = "head"
    lr: float = Field(1e-3, gt=0)  # of the head
    epochs: int = Field(4, ge=1)  # over the pool, in every phase, of the head
    continuations: int = Field(2, ge=1)  # from every turn, where values are exact
    least_auc: float = Field(0.0, ge=0, le=1)  # nothing is learned before new episodes are foreseen so well


class FilteredBcSection(Section):
    window: int = Field(8, ge=1)  # steps whose episodes are learned from, the one under way included
    per_task: int = Field(4, ge=1)  # successes of a task, the newest ones


class AwrSection(Section):
    window: int = Field(8, ge=1)  # steps whose episodes are learned from, the one under way included
    beta: float = Field(0.5, gt=0)  # weights are exp(A / beta), A standardised
    discount: float = Field(0.9, gt=0, le=1)  # of what a turn leads to, for every turn after it
    max_weight: float = Field(20.0, gt=0)  # of a turn at most


class DigirlSection(Section):
    window: int = Field(20, ge=1)  # steps whose episodes are learned from, the one under way included
    form: Literal["paper", "code"] = "paper"  # of the advantage, where the two differ
    discount: float = Field(0.5, gt=0, le=1)  # of what a turn leads to, for every turn after it
    top_share: float = Field(0.1, gt=0, le=1)  # of the pool's trajectories: the most surprising successes
    turns: int = Field(256, ge=1)  # drawn a phase


class WebrlSection(Section):
    window: int = Field(8, ge=1)  # steps whose episodes are learned from, the one under way included
    form: Literal["paper", "code"] = "code"  # squared error; or likelihood that fades
    beta: float = Field(1.0, gt=0)  # how soon an update ends: the larger, the nearer to the phase before
    mix: float = Field(0.5, ge=0, le=1)  # paper: of the change of the value against what is left to the outcome
    discount: float = Field(0.9, gt=0, le=1)  # code: of what a turn leads to, for every turn after it
    min_chance: float = Field(0.05, ge=0, le=1)  # predicted success of tasks that are played
    max_chance: float = Field(0.75, ge=0, le=1)  # the same, at most
    replay: float = Field(2.0, ge=0)  # turns of earlier successes for each new one, at most
    min_likelihood: float = Field(0.5, ge=0, le=1)  # of a replayed turn: its mean token probability is above this
    max_likelihood: float = Field(0.95, gt=0, le=1)  # ... and at most this
    per_task: int = Field(4, ge=1)  # successes of a task among the replayed
    reward_accuracy: float = Field(1.0, ge=0.5, le=1)  # below 1 outcomes are wrong at random: only for studies


class EvaluateSection(Section):
    split: Literal["train", "test", "demo", "all"] = "test"  # which tasks
    attempts: int = Field(1, ge=1)  # episodes of each task
    limit: int = Field(0, ge=0)  # evaluate only the first so many tasks; 0 means all
    temperature: float = Field(0.0, ge=0)  # 0 is greedy
    pictures: bool = True  # of every turn, about 45 kB each, for the viewer, the report and `clickgrad film`
    pictures_mb: int = Field(200, ge=0)  # of a run at most, later turns have none; 0 is no bound


class TrainSection(Section):
    """Of the run as a whole."""

    start_limit: int = Field(0, ge=0)  # tasks on which the model is evaluated before cloning; 0 means all


class ChatSection(Section):
    """Of policies named chat:<model>. Their key comes from the environment alone: OPENAI_API_KEY."""

    url: str = ""  # of any OpenAI-compatible endpoint, up to /chat/completions; empty: OPENAI_BASE_URL, else OpenAI's
    reasoning: bool = False  # the model reasons unseen and takes no temperature, as o3 and its like
    concurrency: int = Field(8, ge=1)  # requests at once
    requests_per_minute: int = Field(0, ge=0)  # 0 is no limit
    timeout_s: float = Field(120.0, gt=0)  # of one request; rollout.reply_s bounds all tries together
    tries: int = Field(6, ge=1)  # of a request
    input_price: float = Field(0.0, ge=0)  # per million tokens, to print what it cost
    output_price: float = Field(0.0, ge=0)  # per million tokens


class JudgeSection(Section):
    """Who is asked where a check of WebArena takes a reader. Only in evaluations: no reward ever depends on it."""

    url: str = ""  # of any OpenAI-compatible endpoint, up to /chat/completions; empty: nobody is asked
    model: str = ""  # its name at that endpoint
    key_variable: str = "OPENAI_API_KEY"  # the variable of the environment that holds the key
    timeout_s: float = Field(60.0, gt=0)  # of one request


class ThinkingSection(Section):
    """The arms of a study that think before they act."""

    max_new_tokens: int = Field(192, ge=1)  # instead of agent.max_new_tokens, which plain replies keep to


class TurnsSection(Section):
    limits: list[Annotated[int, Field(ge=1)]] = [2, 4, 6]  # below agent.max_turns, at which episodes are sampled


class ForksSection(Section):
    """The arms of a study of what resettable worlds add to learning."""

    minutes: float = Field(20.0, gt=0)  # of training that each arm gets, after the same clone
    seeds: list[int] = [0, 1, 2]  # a run for each
    arms: list[ForksArm] = list(get_args(ForksArm))  # which are compared


class BaselinesSection(Section):
    """The arms of a study of the paper's table."""

    minutes: float = Field(20.0, ge=0)  # of training that each arm gets, after the same clone; 0 leaves that table out
    episodes: int = Field(480, ge=0)  # that each arm plays, in a table of its own; 0 leaves it out
    rollouts: int = Field(480, ge=1)  # of the clone, that the offline arms learn from
    seeds: list[int] = [0, 1, 2]  # a run for each
    arms: list[BaselinesArm] = list(get_args(BaselinesArm))  # which are compared


class ClusterSection(Section):
    """Growing beyond one machine. Without an address nothing of Ray is even imported."""

    address: str = ""  # of a Ray cluster: auto, ray://<host>:10001, <host>:6379; or local, this machine alone
    workers: int = Field(0, ge=0)  # browser workers; 0 is as many as the cluster's cores carry, as nodes come and go
    worker_cpus: float = Field(1.0, gt=0)  # that Ray sets aside for one
    worker_episodes: int = Field(4, ge=1)  # at once in one worker; rollout.concurrency bounds all together
    engines: int = Field(1, ge=1)  # that sample
    engine_cpus: float = Field(1.0, ge=0)  # that Ray sets aside for an engine
    engine_gpus: float = Field(0.0, ge=0)  # that Ray sets aside for an engine
    learners: int = Field(1, ge=1)  # processes that share the weights of the policy in training
    learner_cpus: float = Field(1.0, ge=0)  # for each
    learner_gpus: float = Field(0.0, ge=0)  # for each
    start_s: float = Field(300.0, gt=0)  # to wait for room, and for a worker when none is there
    update_s: float = Field(3600.0, gt=0)  # after which the learner counts as hung
    restarts: int = Field(3, ge=0)  # of the learner, after a loss


class LogSection(Section):
    """Besides metrics.jsonl, which is always written."""

    tensorboard: bool = False  # event files in the run folder
    wandb: str = ""  # a project at Weights & Biases


class Config(Section):
    seed: int = 0  # of the drawing of tasks, the order of demonstrations, sampling and adapters
    model: ModelSection = ModelSection()
    tasks: TasksSection = TasksSection()
    agent: AgentSection = AgentSection()
    rollout: RolloutSection = RolloutSection()
    lora: LoraSection = LoraSection()
    learner: LearnerSection = LearnerSection()
    clone: CloneSection = CloneSection()
    reinforce: ReinforceSection = ReinforceSection()
    values: ValuesSection = ValuesSection()
    filtered_bc: FilteredBcSection = FilteredBcSection()
    awr: AwrSection = AwrSection()
    digirl: DigirlSection = DigirlSection()
    webrl: WebrlSection = WebrlSection()
    evaluate: EvaluateSection = EvaluateSection()
    train: TrainSection = TrainSection()
    chat: ChatSection = ChatSection()
    judge: JudgeSection = JudgeSection()
    thinking: ThinkingSection = ThinkingSection()
    turns: TurnsSection = TurnsSection()
    forks: ForksSection = ForksSection()
    baselines: BaselinesSection = BaselinesSection()
    cluster: ClusterSection = ClusterSection()
    log: LogSection = LogSection()

    @model_validator(mode="after")
    def _has_products_to_round(self) -> Config:
        if self.model.compute != "float32" and self.model.dtype == "bfloat16":
            raise ValueError("model.compute does nothing with model.dtype=bfloat16, which rounds everything")
        return self


# Which sections a command reads; options of any other would be silent, so they are refused. A command that calls others
# reads what they read. A test holds this table against the code.
_EPISODES = frozenset({"seed", "tasks", "agent", "rollout"})
_LEARNING = frozenset({"model", "lora", "learner", "log", "cluster"})
_ALGORITHMS = frozenset({"reinforce", "values", "filtered_bc", "awr", "digirl", "webrl"})
READ_BY = {
    "demos": _EPISODES | {"clone", "chat"},
    "reinforce": _EPISODES | _LEARNING | _ALGORITHMS,
    "evaluate": _EPISODES | {"model", "evaluate", "chat", "judge", "cluster"},
    "prove": _EPISODES | {"evaluate"},
    "replay": frozenset({"tasks", "agent", "rollout"}),
    "run": frozenset({"seed", "model", "agent", "rollout", "chat"}),
}
READ_BY["film"] = READ_BY["replay"]
READ_BY["watch"] = READ_BY["record"] = READ_BY["demo"] = _EPISODES | {"model", "chat"}
READ_BY["clone"] = READ_BY["demos"] | _LEARNING
READ_BY["train"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"train"}
READ_BY["study start"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"thinking"}
READ_BY["study forks"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"forks"}
READ_BY["study baselines"] = READ_BY["clone"] | READ_BY["reinforce"] | READ_BY["evaluate"] | {"baselines"}
READ_BY["study format"] = READ_BY["evaluate"] | {"thinking"}
READ_BY["study turns"] = READ_BY["evaluate"] | {"turns"}
READ_BY["study prompting"] = READ_BY["evaluate"]
REPLACED = {"learner.autocast": "model.compute='bfloat16'", "reinforce.int8": "model.compute='int8'"}
ONLY = {  # where a command reads but a few options of a section
    "prove": {"evaluate": {"split", "limit"}},
    "demos": {"clone": {"demos", "remarks"}},
}
FILTERS = ("seed", "sites", "templates", "max_expert_turns", "each")  # of tasks; each speaks of one suite


def presets() -> list[str]:
    folder = resources.files("clickgrad") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_config(source: str | None, settings: Sequence[str], command: str, default: str | None = None) -> Config:
    """`source` is a preset's name or a TOML file; `settings` are `a.b=value` in TOML's notation of values.

    `default` is the preset for users who name none. What it says of the agent gives way to what a policy brings along.
    """
    values = _of_command(_read(source), source, command) if source else _read(default) if default else {}
    mine = dict[str, Any]()
    for setting in settings:
        _apply(mine, setting, command)
    _drop_filters(values, mine, source or default or "")
    for setting in settings:
        _apply(values, setting, command)
    _refuse_replaced(values)
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        origin = f"{source}: " if source else ""
        if first["type"] == "extra_forbidden":
            near = did_you_mean(where, _all_options())
            raise UserError(f"{origin}unknown option {where}{near}: {_known(first['loc'])}") from None
        raise UserError(f"{origin}option {where}: {first['msg'].lower()}, not {first['input']!r}") from None
    if source or not default:
        return config
    agent = AgentSection.model_construct(set(mine.get("agent", {})), **config.agent.model_dump())
    return config.model_copy(update={"agent": agent})


def _refuse_replaced(values: dict[str, Any]) -> None:
    """Options of earlier versions. Where one was off, as all were by default, it says nothing that is still true."""
    for name, successor in REPLACED.items():
        section, _, option = name.partition(".")
        if values.get(section, {}).pop(option, False):
            raise UserError(f"option {name} is now {successor}")


def _of_command(values: dict[str, Any], source: str, command: str) -> dict[str, Any]:
    """A preset is for whole runs, and so is a file that names a command, as config.toml in a run's folder does: every
    command reads its part of it. In any other file a section that this command does not read is a mistake."""
    if source in presets():
        return values
    whole, allowed = values.get("command"), READ_BY[command]
    if whole is not None:
        if whole not in READ_BY:
            raise UserError(f"{source}: command = {whole!r} is none; known are {', '.join(sorted(READ_BY))}")
        allowed |= READ_BY[whole]
        values = {name: value for name, value in values.items() if name not in ("command", "start")}
    unread = next((name for name in values if name in Config.model_fields and name not in allowed), None)
    if unread:
        raise UserError(
            f"{source}: `clickgrad {whole or command}` does not read the section {unread}; leave it out"
            + ("" if whole else ", or name at the top of the file the command that does, as command = 'train'")
        )
    return values


def _drop_filters(values: dict[str, Any], mine: dict[str, Any], source: str) -> None:
    """A file's choice among the tasks of one suite means nothing in another, nor does a turn limit made for it."""
    of_file, chosen = values.get("tasks", {}), mine.get("tasks", {})
    if not isinstance(of_file, dict) or not isinstance(chosen, dict):
        return
    suite = chosen.get("suite")
    if suite in (None, of_file.get("suite", TasksSection().suite)):
        return
    dropped = [f"tasks.{name}" for name in FILTERS if of_file.pop(name, None) is not None]
    agent = values.get("agent", {})
    if "tasks.max_expert_turns" in dropped and isinstance(agent, dict) and agent.pop("max_turns", None) is not None:
        dropped.append("agent.max_turns")
    if dropped:
        warn(f"with tasks.suite={suite} what {source} says of {', '.join(dropped)} is left out")


def _read(source: str) -> dict[str, Any]:
    if source in presets():
        text = (resources.files("clickgrad") / "presets" / f"{source}.toml").read_text()
    else:
        try:
            text = Path(source).read_text()
        except OSError as error:
            known = ", ".join(presets())
            near = did_you_mean(source, presets())
            raise UserError(
                f"config {source}{near}: {error.strerror}; give a TOML file or a preset ({known})"
            ) from None
        except UnicodeDecodeError:
            raise UserError(f"config {source} is not a text file; give a TOML file") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"config {source} is not TOML: {error}") from None


def _apply(values: dict[str, Any], setting: str, command: str) -> None:
    path, equals, text = setting.partition("=")
    parts = path.strip().split(".")
    if not equals or not all(parts):
        raise UserError(f"--set {setting!r}: write it as section.option=value")
    if parts[0] in Config.model_fields and parts[0] not in READ_BY[command]:
        raise UserError(f"--set {path}: `clickgrad {command}` does not read the section {parts[0]}")
    only = ONLY.get(command, {}).get(parts[0])
    if only and parts[1:2] and parts[1] not in only:
        raise UserError(f"--set {path}: `clickgrad {command}` reads only {', '.join(sorted(only))} of {parts[0]}")
    for part in parts[:-1]:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise UserError(f"--set {path}: {part} is not a section")
    values[parts[-1]] = _value(text.strip())


def _value(text: str) -> Any:
    """A TOML value; a bare word is a string, as people expect on a command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _all_options(section: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    names = []
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += _all_options(inner, f"{prefix}{name}.")
        else:
            names.append(f"{prefix}{name}")
    return names


def _known(where: tuple[int | str, ...]) -> str:
    section: type[BaseModel] = Config
    for part in where[:-1]:
        annotation = section.model_fields[str(part)].annotation
        assert isinstance(annotation, type)
        section = annotation
    return "known here are " + ", ".join(section.model_fields)
