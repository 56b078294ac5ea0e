"""What a user can set, section by section: the remark beside an option is its documentation (`clickgrad options`).

A room that has choices of its own declares them beside the code that makes them; here they are collected.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from clickgrad.advantages import Divisor
from clickgrad.agent.grammar import ActionSet, ReplyFormat
from clickgrad.agent.lenient import Strictness
from clickgrad.agent.prompt import SystemPrompt
from clickgrad.algorithms.awr import AwrOptions
from clickgrad.algorithms.critic import ValueKind
from clickgrad.algorithms.digirl import DigiRlOptions
from clickgrad.algorithms.filtered_bc import FilteredBcOptions
from clickgrad.algorithms.phases import AlgorithmOptions
from clickgrad.algorithms.sequence import Curriculum
from clickgrad.algorithms.webrl import WebRlOptions
from clickgrad.browser.render import Rendering
from clickgrad.learn.samples import Normalizer
from clickgrad.learn.spec import ReinforceOptions
from clickgrad.learn.turn_advantages import Credit
from clickgrad.section import Section

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


class ModelSection(Section):
    path: str = "smollm2"  # a transformers folder, a Hugging Face id, or the embedded smollm2
    device: Literal["auto", "cpu", "cuda", "mps", "xpu"] = "auto"  # auto is cuda where there is such a GPU, else cpu
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
    sites: list[str] = Field([])  # only tasks on these; empty means all
    templates: list[str] = Field([])  # only these; empty means all
    max_expert_turns: int = Field(0, ge=0)  # only tasks that an expert does in so many turns; 0 means all
    each: EachSection = EachSection()  # of pocket: another number of instances


class AgentSection(Section):
    reply_format: ReplyFormat = "plain"  # a remark and an action, or thoughts in <think> before it
    system: SystemPrompt = "short"  # the system prompt: in two lines, or with all actions explained
    rendering: Rendering = "outline"  # how a page is told; html is the paper's
    actions: ActionSet = "paper"  # the paper's fourteen, or all that docs/actions.md lists
    grammar: Strictness = "lenient"  # lenient reads what can be read in one way only
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
    # An action is over when nothing that it set going is pending; on sites that are read too early, when moreover
    # nothing has changed for so many seconds.
    settle_s: float = Field(0.0, ge=0)


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
    """How an update is computed and saved, in cloning and in reinforcement."""

    recompute: bool = False  # layers are computed again on the way back, not kept: less memory, up to half more time
    save_async: bool = False  # checkpoints are written while training goes on, from a copy in the host's memory


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
    # Rows one by one, or combed: what they share is computed once. flex is the comb by FlexAttention, on GPUs alone.
    layout: Literal["rows", "comb", "flex"] = "comb"
    save_every: int = Field(10, ge=1)  # steps between checkpoints


class ReinforceSection(Section, ReinforceOptions):
    algorithm: Literal["m-grpo", "filtered-bc", "awr", "digirl", "webrl"] = "m-grpo"  # the paper's, or a baseline
    rollouts: str = ""  # a run or a file of trajectories, to learn from in one pass without playing; not for m-grpo
    steps: int = Field(10, ge=1)  # of the optimizer; of a baseline, phases
    groups: int = Field(4, ge=1)  # tasks a step
    group_size: int = Field(8, ge=1)  # episodes of a task in a step; at least 2 for m-grpo
    max_refills: int = Field(4, ge=0)  # groups sampled anew in a step when all members have the same reward
    lr: float = Field(1e-4, gt=0)  # learning rate
    kl_beta: float = Field(0.001, ge=0)  # weight of the KL to the start policy; 0 leaves it out
    normalizer: Normalizer = "paper"  # by turns, a constant, or each token alike
    divisor: Divisor = "std"  # of advantages: the group's spread, nothing, its mean reward
    average_over: Literal["mixed", "asked"] = "mixed"  # a step's loss: groups with contrast, or all it asked for
    warmup: int = Field(0, ge=0)  # steps over which the rate rises to lr
    require_exit: bool = False  # an episode that its limits end is not solved, in learning
    turn_discount: float = Field(1.0, gt=0, le=1)  # of a success, for every turn after the first
    # What a turn is compared with: its episode's group; turns taken in the same context; also on the same world's page.
    credit: Credit = "episode"
    # Prefer tasks that were solved about half of the time: of all tries so far, or of those lately, as a posterior.
    curriculum: Curriculum = False
    first_part: int = Field(0, ge=0)  # a group begins with so many, and grows unless it will be flat; 0 is all at once
    # Every other group begins part of the way along: demonstrations of cloning, any expert's, the policy's successes.
    starts: Literal["none", "demos", "experts", "own"] = "none"
    demos: str = ""  # for starts: the file of demonstrations; empty is the one beside the model to start from
    branches: int = Field(0, ge=0)  # further ways to go on from a turn of an episode
    forks: int = Field(1, ge=1)  # episodes of a group that branch, each at one turn; counts where there are branches
    replay: int = Field(0, ge=0)  # earlier successes that join a group which failed as a whole
    replay_age: int = Field(10, ge=1)  # steps after which a success is no longer replayed
    probe_every: int = Field(0, ge=0)  # steps between two looks at the same training tasks, set aside; 0 never looks
    probe_tasks: int = Field(24, ge=1)  # how many of them
    minutes: float = Field(0.0, ge=0)  # no further step begins after so many; 0 is no limit
    episodes: int = Field(0, ge=0)  # no further step begins after so many; 0 is no limit
    clock: Literal["wall", "cpu"] = "wall"  # what minutes are counted by; cpu: of all cores and processes of the run
    max_staleness: int = Field(0, ge=0)  # steps by which sampling may run ahead of learning; 0 is strictly on-policy
    shuffle_rewards: bool = False  # a control: the rewards of a group are shuffled, so nothing is learned
    # Rows one by one, or combed: what they share is computed once. flex is the comb by FlexAttention, on GPUs alone.
    layout: Literal["rows", "comb", "flex"] = "comb"
    save_every: int = Field(1, ge=1)  # steps between checkpoints
    keep: int = Field(2, ge=1)  # checkpoints: the last so many, and the one with the best success
    engine: str = "torch"  # who samples: torch, or vllm
    servers: list[str] = Field([])  # URLs of vLLM servers that run already; empty starts one on this machine
    vllm_options: list[str] = Field([])  # further words of the command line of the one that is started
    # How new weights get to servers that were started: straight (NCCL between GPUs) where both can, or by files.
    transfer: Literal["auto", "files"] = "auto"


class ValuesSection(Section):
    """What is expected of a state, for awr, digirl and webrl."""

    # A head on the hidden state of a prompt's last token; tables by template and page; playing on from every turn.
    kind: ValueKind = "head"
    lr: float = Field(1e-3, gt=0)  # of the head
    epochs: int = Field(8, ge=1)  # over the pool, in every phase, of the head
    continuations: int = Field(2, ge=1)  # from every turn, where values are exact
    least_auc: float = Field(0.0, ge=0, le=1)  # nothing is learned before new episodes are foreseen so well


class EvaluateSection(Section):
    split: Literal["train", "test", "demo", "all"] = "test"  # which tasks
    attempts: int = Field(1, ge=1)  # episodes of each task
    limit: int = Field(0, ge=0)  # evaluate only the first so many tasks; 0 means all
    temperature: float = Field(0.0, ge=0)  # 0 is greedy
    engine: Literal["torch", "vllm"] = "torch"  # who samples from a model of ours; vllm starts a server on every GPU
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
    limits: list[Annotated[int, Field(ge=1)]] = Field([2, 4, 6])  # below agent.max_turns, at which episodes are sampled


class ForksSection(Section):
    """The arms of a study of what resettable worlds add to learning."""

    minutes: float = Field(20.0, gt=0)  # of training that each arm gets, after the same clone
    seeds: list[int] = Field([0, 1, 2])  # a run for each
    arms: list[ForksArm] = Field(list(get_args(ForksArm)))  # which are compared


class BaselinesSection(Section):
    """The arms of a study of the paper's table."""

    minutes: float = Field(20.0, ge=0)  # of training that each arm gets, after the same clone; 0 leaves that table out
    episodes: int = Field(480, ge=0)  # that each arm plays, in a table of its own; 0 leaves it out
    rollouts: int = Field(480, ge=1)  # of the clone, that the offline arms learn from
    seeds: list[int] = Field([0, 1, 2])  # a run for each
    arms: list[BaselinesArm] = Field(list(get_args(BaselinesArm)))  # which are compared


class PlacementSection(Section):
    """Who samples and who learns on which GPU of this machine, with vLLM; a cluster has numbers of its own."""

    # separate: the first GPUs learn, the others sample; shared: all in turn; auto: separate where it fits, else shared.
    mode: Literal["auto", "separate", "shared"] = "auto"
    learners: int = Field(0, ge=0)  # GPUs that learn; 0 is planned
    assume: str = ""  # only with --dry-run: plan for these GPUs, as 8x80, or 2x8x40 for two nodes with 8 of 40 GB


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
    filtered_bc: FilteredBcOptions = FilteredBcOptions()
    awr: AwrOptions = AwrOptions()
    digirl: DigiRlOptions = DigiRlOptions()
    webrl: WebRlOptions = WebRlOptions()
    evaluate: EvaluateSection = EvaluateSection()
    train: TrainSection = TrainSection()
    chat: ChatSection = ChatSection()
    judge: JudgeSection = JudgeSection()
    thinking: ThinkingSection = ThinkingSection()
    turns: TurnsSection = TurnsSection()
    forks: ForksSection = ForksSection()
    baselines: BaselinesSection = BaselinesSection()
    placement: PlacementSection = PlacementSection()
    cluster: ClusterSection = ClusterSection()
    log: LogSection = LogSection()

    @property
    def of_algorithm(self) -> AlgorithmOptions | None:
        """The section of the algorithm that was chosen; None for m-grpo, whose options are those of `reinforce`."""
        return getattr(self, self.reinforce.algorithm.replace("-", "_"), None)

    @model_validator(mode="after")
    def _has_products_to_round(self) -> Config:
        if self.model.compute != "float32" and self.model.dtype == "bfloat16":
            raise ValueError("model.compute does nothing with model.dtype=bfloat16, which rounds everything")
        return self


ALGORITHMS = tuple(  # those with a section of their own
    name for name, field in Config.model_fields.items() if isinstance(field.default, AlgorithmOptions)
)
