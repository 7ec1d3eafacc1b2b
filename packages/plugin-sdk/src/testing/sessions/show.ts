// Asks an engine for views as hosts do, and checks what it shows.
import type { AssembleParams, AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage } from "../../contract/message.ts";
import { byteBound } from "../../tokens/counter.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { call } from "../engine-call.ts";
import { user } from "../messages.ts";
import { differs } from "./content.ts";
import { copyOf } from "./copies.ts";
import { ADDED_BY_HOST, inHeartbeat, isPlain, named, ownWords, viewFault } from "./judge-view.ts";
import { placesOf } from "./place.ts";
import { recordOf } from "./record.ts";
import type { Astray } from "./script.ts";
import { AMPLE, SETTINGS, type Stage, strangeIn } from "./stage.ts";
import type { Talk } from "./talk.ts";
import type { Transcript } from "./transcript.ts";

/** What an engine is asked to show. */
export interface Asked {
  messages: readonly AgentMessage[];
  budget: number | null;
  /** Absent: none is being answered. */
  prompt?: string;
  /** The mark by which the prompt is known. Absent: there is none. */
  mark?: string | undefined;
  /** Index of the message with which the running turn begins. Absent: none is running. */
  running?: number;
  /** The engine's own last view is handed back, the very objects. Absent: it is not. */
  isOwn?: boolean;
  /** What is offered otherwise than usual. Absent: nothing. */
  offers?: Pick<AssembleParams, "model" | "availableTools">;
  /** Views of other sizes are asked for meanwhile, so that nothing is asked twice in a row. */
  isAmong?: boolean;
}

/** The session as it is, beside any turn. */
export const look = (
  stage: Stage,
  talk: Talk,
  budget: number | null,
  how: Pick<Asked, "isAmong"> = {},
): Promise<AssembleResult> =>
  view(stage, talk, { messages: talk.transcript.history(stage.host), budget, ...how });

/** A view, and the same view after `work`, which adds nothing to the session. */
export async function unchanged(
  stage: Stage,
  talk: Talk,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const { transcript, told } = talk;
  // Who is shown the newest turns first cannot know what stood before them.
  const isNew = told.length === 0 && stage.host.newest !== null;
  if (transcript.items().length === 0 || isNew) return void (await work());
  const before = await look(stage, talk, stage.host.budget);
  await work();
  same(stage, before, await look(stage, talk, stage.host.budget), what);
}

/** `what` came between two views of the same history. */
export function same(
  stage: Stage,
  before: AssembleResult,
  after: AssembleResult,
  what: string,
): void {
  // What is kept without a folder ends with the engine.
  if (!stage.host.folder) return;
  if (differs(after.messages, before.messages))
    stage.fail("assemble()", `answered the same history otherwise after ${what}`);
  if (after.systemPromptAddition !== before.systemPromptAddition)
    stage.fail("assemble()", `added something else to the system prompt after ${what}`);
  if (after.promptAuthority !== before.promptAuthority)
    stage.fail("assemble()", `answered another promptAuthority after ${what}`);
  if (differs(after.contextProjection, before.contextProjection))
    stage.fail("assemble()", `answered another contextProjection after ${what}`);
}

export async function view(
  stage: Stage,
  talk: Talk,
  {
    messages: given,
    budget,
    prompt,
    mark,
    running,
    isOwn = false,
    offers = {},
    isAmong = false,
  }: Asked,
): Promise<AssembleResult> {
  const { engine, traits } = stage;
  const tokenBudget = budget ?? AMPLE;
  const { transcript } = talk;
  // What a host hands over is copied for the engine; its own view it may have changed.
  const kept = isOwn ? copyOf([...given]) : [...given];
  const hasRoom = fitsByAnyCount(kept, tokenBudget);
  // What a host asks for once is not how much room it has.
  if (!hasRoom && budget === stage.host.budget) talk.isAmple = false;
  else if (!hasRoom) talk.isTight = true;
  const isAmple = hasRoom && talk.isAmple && !talk.isTight;
  // An engine that keeps to the room of a view may unfold in the next one what it had compacted.
  if (budget !== stage.host.budget && !traits.forgetsBudgets) talk.hidden = new Set();
  // The list is the engine's own; what is in it is not.
  const handed = isOwn ? given : kept.map((message) => stage.shared(message));
  const params: AssembleParams = {
    ...stage.ref(talk),
    ...(budget !== null && { tokenBudget }),
    ...offersOf(stage, talk),
    ...offers,
    ...(prompt !== undefined && { prompt }),
    // In `assemble` only those get it who name it.
    ...(engine.info.acceptedHostParams?.includes("runtimeContext") && {
      runtimeContext: stage.runtime(tokenBudget),
    }),
    messages: [],
  };
  const ask = () => call(engine, "assemble", { ...params, messages: [...handed] });
  const answered = await ask();
  if (differs(handed, kept)) stage.fail("assemble()", "changed a message it was given");
  const tools = params.availableTools;
  if (tools !== undefined && [...tools].some((name) => !OFFERED.has(name)))
    stage.fail("assemble()", "changed the set of tools that it was given");
  const result = taken(answered);
  if (stage.host.asksTwice && !isAmong && differs(result, taken(await ask())))
    stage.fail("assemble()", "answered otherwise when it was asked the same twice in a row");
  const fault = viewFault(result, {
    given,
    versionsOf: transcript.versionsOf,
    elsewhere: leftIn(transcript),
    strange: strangeIn(transcript),
    running,
    prompt: mark,
    tokenBudget,
    usual: talk.usual,
    hasRoom,
    isAmple,
    ownsCompaction: stage.owns(),
    showsAll: traits.showsAll,
    isToldNotes: !stage.commits(),
    drops: traits.drops,
  });
  if (fault !== undefined) stage.fail("assemble()", fault);
  if (prompt === undefined && running === undefined) checkHidden(stage, talk, result);
  for (const message of kept) talk.seen.add(messageId(message) ?? "");
  noteWords(talk, result, kept);
  if (!isOwn) goOnThread(stage, talk, { given: kept, budget, result });
  await checkSize(stage, result, { ...params, messages: kept, tokenBudget });
  return result;
}

/** Several times by the kit's estimate; and no count makes more tokens of a text than bytes. */
const fitsByAnyCount = (messages: readonly AgentMessage[], tokenBudget: number): boolean =>
  estimateMessages(messages).high * 4 <= tokenBudget &&
  (tokenBudget >= AMPLE || byteBound(JSON.stringify(messages)) <= tokenBudget);

/** The session with something asked once, and as before. */
export async function detour(stage: Stage, talk: Talk, by: Astray): Promise<void> {
  const { transcript } = talk;
  const messages = transcript.history(stage.host);
  const begin = messages.findLastIndex(({ role }) => role === "user");
  const astray = (asked: Partial<Asked>) =>
    view(stage, talk, { messages, budget: stage.host.budget, ...asked });
  const go = {
    budget: () => astray({ budget: LITTLE }),
    model: () => astray({ offers: { model: "other/tiny-1" } }),
    tools: () => astray({ offers: { availableTools: new Set() } }),
    prompt: () => astray({ prompt: "Tell me more of it. ".repeat(PROMPT_TIMES) }),
    earlier: () => astray({ messages: begin > 0 ? messages.slice(0, begin) : messages }),
    nothing: () => recordOf(stage.engine, stage.ref(talk)),
  }[by];
  if (by !== "budget" || stage.traits.forgetsBudgets)
    return unchanged(stage, talk, "one that was asked for otherwise", go);
  // Within a turn an engine may keep to the smallest budget.
  if (messages.length > 0) await go();
}

/** Tokens that hold next to nothing. */
const LITTLE = 20;
/** Makes a prompt of some thousand characters. */
const PROMPT_TIMES = 150;
const OFFERED: ReadonlySet<string> = new Set(["read", "run_command"]);

/** What a host passes beside the history. */
function offersOf({ host }: Stage, { turns }: Talk): Partial<AssembleParams> {
  const settings = host.tellsSettings && {
    ...{ runtimeSettings: SETTINGS, citationsMode: "auto" as const },
  };
  const way = host.changes ? turns % 4 : 0;
  return {
    ...settings,
    ...(way !== 3 && { model: way === 1 ? "other/other-2" : "kit/kit-1" }),
    ...(way !== 2 && { availableTools: new Set(way === 1 ? [] : ["read", "run_command"]) }),
  };
}

/** What a host adds to the list that it was answered. */
const ADDED = user(ADDED_BY_HOST);

/** As the host keeps it; the list itself it goes on with as it likes. */
function taken(answered: AssembleResult): AssembleResult {
  const { messages } = answered;
  if (!Array.isArray(messages)) return answered;
  const kept = [...messages];
  if (!Object.isFrozen(messages)) messages.push(ADDED);
  return { ...answered, messages: kept };
}

/** A view that is too large says so. */
async function checkSize(
  stage: Stage,
  result: AssembleResult,
  params: AssembleParams & { tokenBudget: number },
): Promise<void> {
  const { tokenBudget } = params;
  const { messages } = result;
  if (result.promptAuthority === "preassembly_may_overflow") return;
  const { low } = estimateMessages(messages);
  const isOverByItsCount =
    couldBeSmaller(messages, params.messages) && saysMoreThan(tokenBudget, result, params.prompt);
  if (low <= tokenBudget && !isOverByItsCount) return;
  if (isOverByItsCount && stage.owns())
    stage.fail(
      "assemble()",
      `showed ${result.estimatedTokens} tokens by its own count for a budget of ${tokenBudget}, without saying that it is more`,
    );
  if (stage.traits.saysOverflow)
    stage.fail(
      "assemble()",
      isOverByItsCount
        ? `showed ${result.estimatedTokens} tokens by its own count for a budget of ${tokenBudget}, without saying so as it does elsewhere`
        : `showed at least ${low} tokens for a budget of ${tokenBudget}, without saying so as it does elsewhere`,
    );
  // One that shows the same whatever the room leaves the size to its host.
  const whole = await call(stage.engine, "assemble", {
    ...params,
    messages: copyOf(params.messages),
    tokenBudget: AMPLE,
  });
  if (whole.messages.length > messages.length)
    stage.fail(
      "assemble()",
      `cut its view for ${tokenBudget} tokens to ${isOverByItsCount ? `${result.estimatedTokens} by its own count` : `at least ${low}`}, without saying that it is more`,
    );
}

/** Whether more is shown than the newest turns, and what stands for what is nowhere else. */
function couldBeSmaller(shown: readonly AgentMessage[], given: readonly AgentMessage[]): boolean {
  const prompts = given.flatMap(({ role }, at) => (role === "user" ? [at] : []));
  const newest = prompts.at(-2) ?? 0;
  return placesOf(shown, given).some(
    (place) => place !== undefined && place < newest && isPlain(given[place]!),
  );
}

/** By its own count, whatever that counts beside the messages, and by the kit's as well. */
function saysMoreThan(
  tokenBudget: number,
  { messages, estimatedTokens, systemPromptAddition = "" }: AssembleResult,
  prompt = "",
): boolean {
  const beside = estimateText(prompt).high + estimateText(systemPromptAddition).high;
  return (
    estimatedTokens > tokenBudget + beside && estimateMessages(messages).estimate > tokenBudget
  );
}

/** What was compacted stays so. */
function checkHidden({ host, fail }: Stage, { hidden }: Talk, { messages }: AssembleResult): void {
  // What is shown under several budgets an engine may unfold again.
  if (!host.folder || host.trims || host.budget !== null) return;
  const back = messages.find((message) => hidden.has(messageId(message) ?? ""));
  if (back !== undefined)
    fail("assemble()", `showed ${named(back)} again, which it had compacted: that is undone`);
}

/** What it says of its own where it shows everything, it says of nothing that is not shown. */
function noteWords(talk: Talk, result: AssembleResult, given: readonly AgentMessage[]): void {
  const places = placesOf(result.messages, given);
  const shown = new Set(places);
  const mayLack = (message: AgentMessage) =>
    !isPlain(message) && message.role !== "compactionSummary";
  const showsAll = given.every((message, at) => shown.has(at) || mayLack(message));
  if (showsAll) for (const words of ownWords(result, places, given)) talk.usual.add(words);
}

/** A view of the same epoch goes on from the one before. */
function goOnThread(
  stage: Stage,
  talk: Talk,
  {
    given,
    budget,
    result: { messages, contextProjection },
  }: { given: readonly AgentMessage[]; budget: number | null; result: AssembleResult },
): void {
  const { mode, epoch } = contextProjection ?? { mode: "per_turn" };
  const { thread } = talk;
  talk.thread =
    mode === "thread_bootstrap" && epoch !== undefined
      ? { epoch, budget, given, shown: copyOf(messages) }
      : undefined;
  if (thread === undefined || thread.epoch !== epoch || thread.budget !== budget) return;
  // Of runs that the host began by itself a view may be short at any time.
  const isTalk = !given.some((_, at) => inHeartbeat(given, at));
  const isLonger = isTalk && !differs(given.slice(0, thread.given.length), thread.given);
  if (isLonger && differs(messages.slice(0, thread.shown.length), thread.shown))
    stage.fail(
      "assemble()",
      "showed what came before otherwise than in the view before, under the same epoch",
    );
}

/** What stands on branches that were left, or was rewritten. */
function leftIn(transcript: Transcript) {
  const active = new Set(
    transcript
      .branch()
      .flatMap((entry) => (entry.type === "message" ? (transcript.idOf(entry.message) ?? []) : [])),
  );
  const gone = (id: string) => !active.has(id) || transcript.withdrawn.has(id);
  return transcript.saidWhere(gone).flatMap((message) => {
    const id = transcript.idOf(message);
    if (id === undefined || !isPlain(message)) return [];
    if (!active.has(id)) return [{ message, why: "was left when the person went back" }];
    const why = "was rewritten since, and says something else now";
    // What a summary says of it was so when it was written.
    return (transcript.withdrawn.get(id) ?? []).map((one) => ({
      message: one,
      why,
      isMeant: true,
    }));
  });
}
