// What can happen to the sessions of a host, as data.

import { isRecord } from "../../is-record.ts";

/** How the host is that runs the sessions. */
export interface Circumstances {
  /** Tokens for each view; null = more than any session of the kit takes. */
  budget: number | null;
  /** Whether it keeps sessions in files and names them. */
  files: boolean;
  /** Whether messages bear the ids of their entries, and come as they were stored. */
  ids: boolean;
  /** Whether it gives sessions a stable key beside their id. */
  keys: boolean;
  /** Whether it disposes of the engine after each turn and makes another for the next. */
  remakes: boolean;
  /** Whether views within a turn are asked for with the view before in the place of the history. */
  feedsBack: boolean;
  /** Whether it knows no committed turns: an engine that has them is told as others are. */
  eager: boolean;
  /** Whether turns that were missed are told in one call. */
  together: boolean;
  /** Whether ids of tool calls begin anew with every turn. */
  repeatsCalls: boolean;
  /** Whether messages bear a time and a key; only without ids they may not. */
  times: boolean;
  /** Whether two messages of the person in a row are shown as one. */
  merges: boolean;
  /** Whether the last line of a session file ends. */
  endsLines: boolean;
  /** Whether the engine is made with a folder; without one it keeps nothing for long. */
  folder: boolean;
  /** Whether sessions are served at the same time. */
  atOnce: boolean;
  /** Whether some messages bear no time, and others the time of an earlier one or one before it. */
  oddTimes: boolean;
  /** Whether ids of messages begin anew with every transcript. */
  repeatsIds: boolean;
  /** Turns that it hands over, the newest; null = all. */
  newest: number | null;
  /** Whether it tells its settings, and where it stores sessions, to whoever takes them. */
  tellsSettings: boolean;
  /** Whether models and tools are others from turn to turn. */
  changes: boolean;
  /** Whether it asks for each view twice. */
  asksTwice: boolean;
  /** Whether old thinking, long results and details are not in the history of a view. */
  trims: boolean;
  /** Whether names of sessions, messages and calls differ in signs and case only. */
  oddNames: boolean;
  /** Whether some calls that tell of something lack the session's key. */
  skipsKeys: boolean;
  /** Whether what it hands over cannot be changed. */
  freezes: boolean;
  /** Whether results of calls that were made together are stored in another order. */
  anyOrder: boolean;
  /** Whether each is told with the turn before, as by a host that does not know it was told. */
  overlaps: boolean;
  /** Whether it tells a turn again before the engine has answered. */
  retries: boolean;
  /** Whether it hands over the same objects in each view, not copies. */
  shares: boolean;
  /** Whether it asks for a view while it tells of a turn. */
  hurries: boolean;
  /** Whether it looks at another session before and after each step. */
  watches: boolean;
}

export const ORDINARY: Circumstances = {
  budget: null,
  files: true,
  ids: true,
  keys: true,
  remakes: false,
  feedsBack: false,
  eager: false,
  together: false,
  repeatsCalls: false,
  times: true,
  merges: false,
  endsLines: true,
  folder: true,
  atOnce: false,
  oddTimes: false,
  repeatsIds: false,
  newest: null,
  tellsSettings: false,
  changes: false,
  asksTwice: false,
  trims: false,
  oddNames: false,
  skipsKeys: false,
  freezes: false,
  anyOrder: false,
  overlaps: false,
  retries: false,
  shares: false,
  hurries: false,
  watches: false,
};

/** How a text is made. */
export const SPEECH = [
  ...["plain", "same", "long", "lines", "signs", "parts", "picture"],
  ...["pictures", "nothing", "halves", "quoted", "beat"],
] as const;
/** "huge" is for single sessions: it costs much. */
export type Speech = (typeof SPEECH)[number] | "huge";

/** What tools return. */
export const RESULTS = [
  ...["plain", "long", "error", "picture", "parts", "nothing"],
  ...["same", "halves", "quoted"],
] as const;
/** "huge" is for single sessions: it costs much. */
export type ToolReturn = (typeof RESULTS)[number] | "huge";

/** What an answer holds beside its text. */
export const ANSWERS = [
  ...["plain", "same", "long", "signs", "thinking", "provider"],
  ...["thought", "nothing", "cut", "blocks", "quoted", "beat"],
] as const;
export type Answer = (typeof ANSWERS)[number] | "huge";

/**
 * How a turn ends: "told" the engine is told of it · "missed" another engine answers, and this one
 * is told later · "failed" no model answered, so the engine is told with the next turn · "aborted"
 * the person ended it while tools ran, and the engine is told with the next turn.
 */
export type TurnEnd = "told" | "missed" | "failed" | "aborted";

/**
 * What the model answers that an engine may ask: "fails" it does not · "breaks" nor after a while ·
 * "names" what it was told · "aborted" the call's signal, and so does the model · "late" the
 * signal, and it answers all the same · "before" the signal was aborted before the call · "soon"
 * right after it.
 */
export type ModelAnswer =
  | "fails"
  | "breaks"
  | "nothing"
  | "much"
  | "names"
  | "aborted"
  | "late"
  | "before"
  | "soon";

/** What a view is asked with once that no other is. */
export type Astray = "budget" | "model" | "tools" | "prompt" | "earlier" | "nothing";

/** Whose message is rewritten. */
export type Redacted = "toolResult" | "user" | "assistant";

export interface Turn {
  do: "turn";
  says: Speech;
  /** One step of the turn for each; several tools may be called in one. */
  tools: readonly (readonly ToolReturn[])[];
  answers: Answer;
  ends: TurnEnd;
  heartbeat: boolean;
}

export type Step = (
  | Turn
  /** The host stores a note between turns: a shell command, or a custom message. */
  | { do: "note"; kind: "bash" | "custom" | "blocks" | "branch" }
  /** What was told last is told once more; `turns`: with as many before it. */
  | { do: "again"; turns?: number }
  /** The process is killed; `unsure`: so soon that the host tells the last turn again. */
  | { do: "restart"; unsure: boolean }
  /** `goesOn`: and the same engine is asked again. Absent: another is made. */
  | { do: "dispose"; goesOn?: boolean }
  /** A view is asked for beside turns. */
  | { do: "look"; budget: number | null }
  /** A view is asked for once with something that no other is asked with. */
  | { do: "detour"; by: Astray }
  /** Several views of different sizes are asked for at the same time. */
  | { do: "looks"; budgets: readonly number[] }
  /** The clock of the machine is set. */
  | { do: "clock"; by: number }
  /** So many short turns of another engine. */
  | { do: "chat"; turns: number }
  /** So many short turns of before there was the engine, which finds them in the file. */
  | { do: "past"; turns: number }
  /** A child begins as the next session; `fails`: it does not, after all. */
  | { do: "spawn"; fork: boolean; fails: boolean }
  /** The session was a child's, and its run ends. */
  | { do: "ended"; reason: "completed" | "swept" | "released" }
  /** The host compacts by itself, as when another engine was chosen. */
  | { do: "shrink" }
  /** The person goes back and leaves the newest turns. */
  | { do: "back"; turns: number }
  /** The person returns to the newest branch that was left. */
  | { do: "forth" }
  /** The host takes a session file of some turns before from a backup. */
  | { do: "restore"; turns: number }
  /** The host writes the session file anew, without what is on other branches. */
  | { do: "rewrite" }
  /** The host shortens an older tool result, and stores everything after it again. */
  | { do: "shorten" }
  /** A message is rewritten under its id, so that it no longer says what it said. */
  | { do: "redact"; of: Redacted }
  /** `by`: what part of the session it shall fit into. */
  | {
      do: "compact";
      by: number;
      asked: "budget" | "threshold";
      model: boolean;
      bare: boolean;
      /** What its model answers. Absent: what models do. */
      answer?: ModelAnswer;
    }
  | { do: "maintain" }
  /** The person begins anew, under the same key. */
  | { do: "new" }
  /** The host goes on with the same messages in another transcript. */
  | { do: "move" }
  /** Another session begins as a copy of this one, and this one goes on. */
  | { do: "fork" }
) & {
  /** In which session. */
  in: number;
};

/** One or more sessions as data, to be kept as JSON and run again. */
export interface SessionScript {
  /** How the host is that runs them. */
  host: object;
  /** What happens, in order. */
  steps: readonly object[];
  /**
   * What its names and the words in it are drawn from, as when it failed. Absent: others each time.
   */
  salt?: string;
}

/** The same, to those who run it. */
export interface Script extends SessionScript {
  host: Circumstances;
  steps: readonly Step[];
}

/** True for what a report has under "session". */
export const isScript = (value: unknown): value is Script =>
  isRecord(value) &&
  isRecord(value.host) &&
  Array.isArray(value.steps) &&
  value.steps.every(
    (step) => isRecord(step) && typeof step.do === "string" && step.in !== undefined,
  );

/** Steps that a sentence names, at each end of a longer script. */
const NAMED_FIRST = 6;
const NAMED_LAST = 4;

/** The script in a sentence. */
export function inWords({ host, steps }: Script): string {
  const sessions = new Set(steps.map((step) => step.in)).size;
  const told = steps.map(
    (step) => `${stepInWords(step)}${sessions > 1 ? ` in session ${step.in + 1}` : ""}`,
  );
  // One that was kept before hosts differed in more has less.
  const where = hostInWords({ ...ORDINARY, ...host });
  const between = told.length - NAMED_FIRST - NAMED_LAST;
  const named =
    between < 2
      ? told
      : [...told.slice(0, NAMED_FIRST), `${between} more steps`, ...told.slice(-NAMED_LAST)];
  return `${named.join("; ")}${where === "" ? "" : `, on a host that ${where}`}`;
}

export function stepInWords(step: Step): string {
  switch (step.do) {
    case "turn":
      return turnInWords(step);
    case "note":
      return {
        bash: "a shell command",
        custom: "a note of the host",
        blocks: "a note of the host with a picture",
        branch: "a summary of a branch",
      }[step.kind];
    case "again":
      return step.turns === undefined || step.turns < 1
        ? "the last turn told again"
        : `the last ${step.turns + 1} turns told again`;
    case "restart":
      return step.unsure ? "a crash before the host knew that the turn was told" : "a crash";
    case "dispose":
      return step.goesOn
        ? "dispose(), and the same engine asked again"
        : "dispose(), and the engine made again";
    case "look":
      return step.budget === null ? "a look" : `a look with ${step.budget} tokens`;
    case "detour":
      return `a look ${ASTRAY[step.by]}`;
    case "looks":
      return `looks with ${step.budgets.join(", ")} tokens at the same time`;
    case "clock":
      return `the clock set ${step.by < 0 ? "back" : "forth"} by ${Math.round(Math.abs(step.by) / 3_600_000)} hours`;
    case "chat":
      return `${step.turns} short turns of another engine`;
    case "past":
      return `${step.turns} short turns of before the engine`;
    case "spawn":
      return `${step.fork ? "a forked" : "an isolated"} child${step.fails ? " that does not begin after all" : ""}`;
    case "ended":
      return `the end of a child's run ("${step.reason}")`;
    case "shrink":
      return "the host's own compaction";
    case "back":
      return `${step.turns === 1 ? "the last turn" : `the last ${step.turns} turns`} left`;
    case "forth":
      return "the branch that was left taken up again";
    case "restore":
      return `a session file from before ${step.turns === 1 ? "the last turn" : `the last ${step.turns} turns`}`;
    case "rewrite":
      return "a session file written anew";
    case "shorten":
      return "an old tool result shortened by the host";
    case "redact":
      return `${{ toolResult: "a tool result", user: "a request", assistant: "a reply" }[step.of]} rewritten by the host`;
    case "compact":
      if (step.bare) return "compact() with no word of how small";
      return `compact() for ${step.by === 1 ? "all" : `1/${Math.round(1 / step.by)}`} of its size${modelInWords(step)}`;
    case "maintain":
      return "maintenance behind the reply";
    case "new":
      return "/new";
    case "move":
      return "a successor transcript";
    case "fork":
      return "a fork";
  }
}

/** With what a view is asked for once. */
const ASTRAY: Readonly<Record<Astray, string>> = {
  budget: "with very little room",
  model: "for another model",
  tools: "without tools",
  prompt: "with a long prompt",
  earlier: "at an earlier history",
  nothing: "without any history",
};

function modelInWords({ model, answer }: Extract<Step, { do: "compact" }>): string {
  if (!model) return ", without a model";
  if (answer === undefined) return "";
  return {
    fails: ", with a model that fails",
    breaks: ", with a model that fails after a while",
    nothing: ", with a model that answers nothing",
    much: ", with a model that answers far too much",
    names: ", with a model that tells the names",
    aborted: ", aborted as it asks a model",
    late: ", aborted as it asks a model that answers all the same",
    before: ", aborted before it is asked",
    soon: ", aborted as soon as it is asked",
  }[answer];
}

function turnInWords({ says, tools, answers, ends, heartbeat }: Turn): string {
  const calls = tools.flat();
  const kinds = [...new Set(calls.filter((kind) => kind !== "plain"))];
  const which = kinds.length > 0 ? ` (${kinds.join(", ")})` : "";
  const parts = [
    says !== "plain" && `"${says}" text`,
    calls.length > 0 && `${calls.length} tool ${calls.length === 1 ? "call" : "calls"}${which}`,
    answers !== "plain" && `"${answers}" answer`,
  ].filter((part) => part !== false);
  const what = heartbeat ? "a heartbeat" : "a turn";
  const end = {
    ...{ told: "", missed: " of another engine" },
    ...{ failed: " that failed", aborted: " that was aborted while tools ran" },
  }[ends];
  return `${what}${end}${parts.length > 0 ? ` with ${parts.join(", ")}` : ""}`;
}

function hostInWords(host: Circumstances): string {
  const parts = [
    host.budget !== null && `gives each view ${host.budget} tokens`,
    !host.files && "keeps no session file",
    !host.ids && "gives messages no ids and shortens results",
    !host.keys && "has no session keys",
    host.remakes && "makes the engine anew for each turn",
    host.feedsBack && "hands views back within a turn",
    host.eager && "knows no committed turns",
    host.together && "tells missed turns in one call",
    host.repeatsCalls && "counts tool calls anew in each turn",
    !host.times && "gives messages no times and keys",
    host.merges && "shows two messages of the person in a row as one",
    !host.endsLines && "does not end the last line of its files",
    !host.folder && "gives the engine no folder",
    host.atOnce && "serves its sessions at the same time",
    host.oddTimes && "has a clock that goes back, and messages without a time",
    host.repeatsIds && "counts ids of messages anew in each transcript",
    host.newest !== null && `hands over the newest ${host.newest} turns`,
    host.tellsSettings && "tells its settings",
    host.changes && "offers other models and tools from turn to turn",
    host.asksTwice && "asks for each view twice",
    host.trims && "leaves old thinking and long results out of histories",
    host.oddNames && "names sessions, messages and calls alike but for signs and case",
    host.skipsKeys && "leaves the session's key out of some calls that tell of turns",
    host.freezes && "freezes what it hands over",
    host.overlaps && "tells each turn together with the one before",
    host.anyOrder && "stores results in any order",
    host.retries && "tells each turn again before it is answered",
    host.shares && "hands over the same objects again and again",
    host.hurries && "asks for a view while it tells of a turn",
    host.watches && "looks at another session before and after each step",
  ].filter((part) => part !== false);
  return parts.join(", ");
}
