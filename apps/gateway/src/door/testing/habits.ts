// What each of nine coding agents does that a matcher must see through.
import type { DoorApi } from "../wires/door-wire.ts";
import type { Said } from "./conversation.ts";

/** How a client shortens a history of its own. */
export interface CompactionHabit {
  /**
   * "history": the history with its tools, and a prompt behind · "toolless": the same without tools
   * · "text": all of it in one text.
   */
  asks: "history" | "toolless" | "text";
  headers?: Record<string, string>;
  /** By what it asks, where that is so short that a person may have said it. Absent: at length. */
  prompt?: string;
  /** What the next request begins with; `said` does not hold what was asked and answered. */
  restart(said: readonly Said[], summary: string): Said[];
  /** True: the next turn does not wait for the summary. Absent: it does. */
  inBackground?: boolean;
}

export interface Habits {
  name: string;
  api: DoorApi;
  /**
   * How its upstream names calls. False: it does not · "restarting": `call_0` is the first of each
   * reply · "counted": by their number in the conversation, as Kimi K2 does. Absent: each by a name
   * that no other has.
   */
  ids?: false | "restarting" | "counted";
  /**
   * It puts ids of its own on calls: "kept" for each · "anew" at each request. Absent: it leaves
   * them as they came.
   */
  ownIds?: "kept" | "anew";
  /** Headers that name conversation and parent. Absent: it tells neither. */
  headers?(conversation: string, session: string, parent?: string): Record<string, string>;
  /** Members of the body that name them. */
  body?(conversation: string, session: string): Record<string, unknown>;
  head: readonly string[];
  tools: readonly string[];
  /** Responses: its tools are listed in the input, and take a text. */
  code?: boolean;
  /** Said by the client before the person's first words. */
  before: readonly string[];
  /** What it begins each conversation with, a model's words and calls among it. Absent: nothing. */
  examples?: readonly Said[];
  /** What it looks up stands beside the person's newest words alone. Absent: nothing does. */
  looksUp?: "before" | "behind";
  /** A text for what was said is asked for beside it, and may begin another conversation. */
  labels?: boolean;
  marks?: boolean;
  /** A call without tools before the first one. */
  asksForTitle?: boolean;
  /** Late system messages behind results. */
  nudges?: boolean;
  /** Requests after which it cuts old results to a placeholder. Absent: it never does. */
  masksFrom?: number;
  /** What is different after it was started again. */
  resume?: "head" | "first-message" | "no-thinking";
  /** A side agent over a copy of the history after it was started again. */
  remembers?: boolean;
  /** A check without tools over the newest messages. */
  checksLoops?: boolean;
  /** Some of its turns go without tools: it plans, or must answer now. */
  plans?: boolean;
  /** The same conversation is resumed twice, in windows that go on in turns. */
  hasWindows?: boolean;
  /** Its person never says the same twice. */
  neverRepeats?: boolean;
  /** Anthropic: a reminder stands in the newest message alone, and moves on with it. */
  reminds?: boolean;
  /** Its model says nothing beside its calls, and answers nobody before it compacts. */
  isWordless?: boolean;
  compaction?: CompactionHabit;
}

const made = (text: string): Said => ({ uid: null, by: "person", text });
const persons = (said: readonly Said[]) => said.filter(({ by }) => by === "person");
const lastOf = (said: readonly Said[]) => persons(said).slice(-1);

/** From the newest reply that calls, so that no result stands alone. */
function newestPair(said: readonly Said[]): Said[] {
  const from = said.findLastIndex((one) => one.by === "model" && one.calls.length > 0);
  return from < 0 ? lastOf(said) : said.slice(from);
}

/** What the client itself says first. */
const isIntroduction = (said: Said) => said.by === "person" && said.text.startsWith("<");

/** What the client says first, and the newest that the person said: no older summary. */
function newestWords(said: readonly Said[], most: number): Said[] {
  const own = persons(said).filter((one) => one.isSummary === undefined);
  const words = own.filter((one) => !isIntroduction(one));
  return [...own.filter(isIntroduction), ...words.slice(-most)];
}

/** All behind the summary by which it went on already; else the newest turns, whole. */
function behindSummary(said: readonly Said[]): Said[] {
  const before = said.findIndex(({ isSummary }) => isSummary === true);
  if (before >= 0) return said.slice(before + 1);
  const asked = [...said.entries()].filter(([, { by }]) => by === "person");
  return said.slice(asked.at(-2)?.[0] ?? 0);
}

const TOOLS = ["bash", "edit", "glob", "grep", "read", "write"];

const CODEX: Habits = {
  name: "codex",
  api: "openai-responses",
  headers: (conversation, session, parent) => ({
    "session-id": session,
    "thread-id": conversation,
    "x-codex-window-id": `${conversation}:0`,
    ...(parent && { "x-codex-parent-thread-id": parent }),
  }),
  body: (_conversation, session) => ({ prompt_cache_key: session }),
  head: ["Permissions.", "Rules of the house."],
  tools: ["apply_patch", "plan", "shell", "view"],
  before: ["<environment>cwd: /work</environment>"],
  compaction: {
    asks: "toolless",
    headers: { "x-codex-turn-metadata": '{"request_kind":"compaction"}' },
    restart: (said, summary) => [...persons(said), made(`Another model's summary: ${summary}`)],
  },
};

const OPENCODE: Habits = {
  name: "opencode",
  api: "openai-completions",
  headers: (conversation, _session, parent) => ({
    "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4",
    "x-session-id": `ses_${conversation}`,
    "x-session-affinity": `ses_${conversation}`,
    ...(parent && { "x-parent-session-id": `ses_${parent}` }),
  }),
  head: ["You are a coding agent."],
  tools: [...TOOLS, "task"],
  before: [],
  asksForTitle: true,
  compaction: {
    asks: "text",
    restart: (said, summary) => [...toldByModel(summary), ...newestPair(said)],
  },
};

/** The summary as an answer to what the client makes up. */
const toldByModel = (summary: string): Said[] => [
  made("What have we done?"),
  { uid: null, by: "model", text: summary, calls: [] },
];

export const HABITS: readonly Habits[] = [
  {
    name: "claude-code",
    api: "anthropic-messages",
    headers: (conversation, session) => ({
      "x-claude-code-session-id": session,
      ...(conversation !== session && { "x-claude-code-agent-id": conversation }),
    }),
    head: ["You are an agent.", "Be brief."],
    tools: [...TOOLS, "agent", "todo"],
    before: [],
    marks: true,
    nudges: true,
    plans: true,
    compaction: {
      asks: "history",
      restart: (said, summary) => [made(`Continued:\n${summary}\nGo on.`), ...newestPair(said)],
    },
  },
  CODEX,
  { ...CODEX, name: "codex in code mode", code: true },
  OPENCODE,
  { ...OPENCODE, name: "opencode by Responses", api: "openai-responses" },
  {
    ...{ ...OPENCODE, name: "opencode with a silent model", api: "openai-responses" },
    isWordless: true,
  },
  {
    ...{ ...OPENCODE, name: "opencode without newest turns" },
    compaction: { asks: "text", restart: (_said, summary) => toldByModel(summary) },
  },
  {
    name: "pi",
    api: "openai-completions",
    head: ["You are pi."],
    tools: ["bash", "edit", "read", "write"],
    before: [],
    plans: true,
    compaction: {
      asks: "text",
      restart: (said, summary) => [made(`<summary>${summary}</summary>`), ...newestPair(said)],
    },
  },
  {
    name: "qwen",
    api: "openai-completions",
    head: ["You are qwen, an agent for code. Git: clean."],
    tools: [...TOOLS, "agent", "memory", "skill", "todo", "web", "plan", "ls", "ask"],
    before: [],
    masksFrom: 11,
    resume: "head",
    remembers: true,
    compaction: {
      asks: "toolless",
      restart: (said, summary) => [
        made(summary),
        { uid: null, by: "model", text: "Got it. Thanks for the context!", calls: [] },
        ...lastOf(said),
      ],
    },
  },
  {
    name: "gemini",
    api: "google-generative-ai",
    head: ["You are gemini."],
    tools: TOOLS,
    before: ["Today is a day. Files: a, b."],
    masksFrom: 8,
    resume: "first-message",
    checksLoops: true,
  },
  {
    name: "gemini without ids",
    api: "google-generative-ai",
    ids: false,
    head: ["You are gemini."],
    tools: TOOLS,
    before: ["Today is a day. Files: a, b."],
    checksLoops: true,
  },
  {
    name: "copilot",
    api: "openai-completions",
    head: ["You are copilot."],
    tools: [...TOOLS, "task"],
    before: [],
    resume: "no-thinking",
    compaction: {
      asks: "history",
      headers: { "x-interaction-type": "conversation-compaction" },
      inBackground: true,
      restart: (said, summary) => [
        ...persons(said).slice(0, 1),
        made(`Summary: ${summary}`),
        ...newestPair(said),
      ],
    },
  },
  {
    name: "cline",
    api: "openai-completions",
    head: ["You are cline."],
    tools: [...TOOLS, "done", "ask"],
    before: [],
    plans: true,
    compaction: {
      asks: "text",
      restart: (said, summary) => [made(`Context summary:\n${summary}`), ...newestPair(said)],
    },
  },
  {
    name: "kimi",
    api: "openai-completions",
    body: (_conversation, session) => ({ prompt_cache_key: session }),
    head: ["You are kimi."],
    tools: [...TOOLS, "task", "think"],
    before: ["<rules>Mind the tests.</rules>", "<environment>cwd: /work</environment>"],
    compaction: {
      asks: "history",
      restart: (said, summary) => [...persons(said), made(`So far:\n${summary}`)],
    },
  },
];

const named = (name: string): Habits => HABITS.find((habits) => habits.name === name)!;

/** The same agent, which goes on from other messages after its compaction. */
const goingOnFrom = (
  name: string,
  how: string,
  restart: CompactionHabit["restart"],
  more: Partial<Habits> = {},
): Habits => {
  const { compaction, ...habits } = named(name);
  return { ...habits, ...more, name: `${name} ${how}`, compaction: { ...compaction!, restart } };
};

/** Agents that go on from less, or from more, than those above. */
const SHORTENING: readonly Habits[] = [
  ...[1, 3].flatMap((most) =>
    ["kimi", "codex"].map((name) =>
      goingOnFrom(name, `keeping ${most} of the person's messages`, (said, summary) => [
        ...newestWords(said, most),
        made(`So far:\n${summary}`),
      ]),
    ),
  ),
  goingOnFrom("kimi", "keeping no older summary", (said, summary) => [
    ...newestWords(said, Number.POSITIVE_INFINITY),
    made(`So far:\n${summary}`),
  ]),
  ...["pi", "cline"].map((name) =>
    goingOnFrom(name, "replacing only its summary", (said, summary) => [
      made(`<summary>${summary}</summary>`),
      ...behindSummary(said),
    ]),
  ),
  goingOnFrom("copilot", "replacing only its summary", (said, summary) => [
    made(`Summary: ${summary}`),
    ...behindSummary(said),
  ]),
];

/** Programs that ask for a summary in few words, in the midst of the conversation. */
const BRIEF: readonly Habits[] = [["read", "write"], []].flatMap((tools) =>
  (["history", "toolless"] as const).map((asks): Habits => {
    const how = tools.length === 0 ? "no tools" : asks === "history" ? "its tools" : "tools away";
    return {
      name: `a program asking briefly with ${how}${tools.length === 0 ? `, ${asks}` : ""}`,
      api: asks === "history" ? "openai-completions" : "anthropic-messages",
      head: ["You are helpful."],
      tools,
      before: [],
      compaction: {
        asks,
        prompt: "Create a summary of the conversation above:",
        restart: (said, summary) =>
          asks === "history"
            ? [made(`Summary of conversation earlier: ${summary}`), ...newestWords(said, 1)]
            : [...persons(said).slice(0, 1), made(summary), ...newestPair(said)],
      },
    };
  }),
);

/** The same, told as the model's words behind what was said first. */
const BRIEF_BY_MODEL: Habits = {
  ...BRIEF[0]!,
  name: "a program asking briefly, told by its model",
  compaction: {
    ...BRIEF[0]!.compaction!,
    restart: (said, summary) => [
      ...persons(said).slice(0, 1),
      { uid: null, by: "model", text: summary, calls: [] },
      ...newestWords(said, 1),
    ],
  },
};

const WINDOWED: readonly Habits[] = HABITS.map(({ compaction, ...habits }) => ({
  ...{ ...habits, name: `${habits.name} in windows`, hasWindows: true },
  // What a window begins again with may be another's as well, unless its words are its own.
  ...(habits.name === "kimi" && compaction && { compaction, neverRepeats: true }),
}));

const windowed = (name: string): Habits => WINDOWED[HABITS.indexOf(named(name))]!;

/** The same agents where ids of calls repeat, and with more than one window. */
export const ODD_HABITS: readonly Habits[] = [
  ...(["pi", "qwen", "kimi", "copilot", "cline", "claude-code", "codex"] as const).flatMap((name) =>
    (["restarting", "counted"] as const).map(
      // A turn without tools behind a summary that nobody knows may be anybody's.
      (ids): Habits => ({ ...named(name), name: `${name} with ${ids} ids`, ids, plans: false }),
    ),
  ),
  { ...named("gemini"), name: "gemini without ids, masking", ids: false, isWordless: true },
  { ...named("gemini"), name: "gemini with restarting ids", ids: "restarting", isWordless: true },
  ...SHORTENING,
  ...BRIEF,
  BRIEF_BY_MODEL,
  ...WINDOWED,
  { ...named("claude-code"), name: "claude-code with reminders", reminds: true, plans: false },
  {
    ...{ ...windowed("claude-code"), name: "claude-code with reminders in windows" },
    ...{ reminds: true, plans: false },
  },
  {
    ...{ ...windowed("kimi"), name: "kimi with counted ids in windows", ids: "counted" },
  },
];
