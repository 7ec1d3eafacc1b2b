// Asks an engine to compact and to maintain as hosts do, and checks what became smaller.

import { sleep } from "../../abort.ts";
import type {
  AssembleResult,
  CompactParams,
  CompactResult,
  MaintainResult,
} from "../../contract/lifecycle.ts";
import type { AgentMessage } from "../../contract/message.ts";
import type { TranscriptRewriteResult } from "../../contract/runtime.ts";
import { isAbort } from "../../errors.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { messageId } from "../../transcript/message-id.ts";
import { parseTranscript } from "../../transcript/parse.ts";
import { textOf } from "../../transcript/text.ts";
import { quickModel } from "../case-session.ts";
import { call } from "../engine-call.ts";
import { differs } from "./content.ts";
import { inHeartbeat, isKnowable, isPlain, named } from "./judge-view.ts";
import { marksIn } from "./marks.ts";
import { placesOf } from "./place.ts";
import { recordOf } from "./record.ts";
import { compactShapeFault, maintainShapeFault } from "./result-shape.ts";
import { lendRewrite } from "./rewrite.ts";
import type { ModelAnswer, Step } from "./script.ts";
import { look, same } from "./show.ts";
import { type Stage, strangeIn } from "./stage.ts";
import type { Talk } from "./talk.ts";
import { bootstrap, catchUp } from "./tell.ts";

export async function compact(
  stage: Stage,
  talk: Talk,
  step: Extract<Step, { do: "compact" }>,
): Promise<void> {
  await bootstrap(stage, talk);
  await catchUp(stage, talk);
  const whole = await look(stage, talk, null);
  const before = sizeOf(whole);
  const currentTokenCount = estimateMessages(talk.transcript.history()).high;
  const tokenBudget = Math.max(1, Math.floor(currentTokenCount * step.by));
  const owns = stage.owns();
  const { compactions } = stage.context;
  const delegated = compactions.length;
  const isCut = sizeOf(whole) < estimateMessages(talk.transcript.history(stage.host)).estimate;
  const record = step.answer === undefined ? [] : await recordOf(stage.engine, stage.ref(talk));
  const model = modelFor(stage, talk, owns ? step : { ...step, answer: undefined });
  const asked = {
    ...stage.ref(talk),
    ...(await stage.file(talk)),
    ...stage.settings(talk),
    ...(stage.host.tellsSettings && { agentId: "kit", customInstructions: "Keep all names." }),
    ...(model.signal && { abortSignal: model.signal }),
    ...(!step.bare && { tokenBudget, currentTokenCount, compactionTarget: step.asked }),
    ...(!step.bare && { force: true }),
    runtimeContext: {
      ...(!step.bare && stage.runtime(tokenBudget)),
      ...(step.model && { llm: model }),
    },
  };
  const answering = answerOf(stage, asked, model);
  model.asked();
  const answered = await answering;
  if (answered === undefined || (model.signal?.aborted && !(answered.compacted && model.mayEnd)))
    return afterAbort(stage, talk, { answered, whole, record });
  const shape = compactShapeFault(answered);
  if (shape !== undefined) stage.fail("compact()", `gave a result that no host takes: ${shape}`);
  const stranger = strangeIn(talk.transcript)(JSON.stringify(answered));
  if (stranger !== undefined) stage.fail("compact()", `answered ${stranger}`);
  if (!owns && compactions.length === delegated)
    stage.fail("compact()", "did not reach the host's built-in compaction, and owns none");
  if (!answered.compacted) {
    if (model.hasFailed() && !answered.reason?.trim())
      stage.fail("compact()", "said that it made nothing smaller, and not why: its model failed");
    same(
      stage,
      whole,
      await look(stage, talk, null),
      "compact(), which said that it made nothing smaller",
    );
    return;
  }
  talk.isAmple = false;
  if (owns) noteCompaction(stage, talk);
  const entries = new Set(talk.transcript.entries.map(({ id }) => id));
  await adopt(stage, talk, answered.result);
  for (const { id } of talk.transcript.entries) entries.add(id);
  const first = answered.result?.firstKeptEntryId;
  if (first !== undefined && !entries.has(first))
    stage.fail("compact()", `named "${first}" the first entry that it kept, which is none`);
  await maintain(stage, talk, false);
  const smaller = await look(stage, talk, null);
  const after = sizeOf(smaller);
  checkNumbers(stage, answered.result, { whole, smaller, currentTokenCount });
  if (owns) {
    checkRequest(stage, talk, smaller);
    checkNotes(stage, whole, smaller);
    const shown = new Set(smaller.messages.map(messageId));
    const gone = whole.messages.map(messageId).filter((id) => id !== undefined && !shown.has(id));
    talk.hidden = new Set(gone as string[]);
  }
  if (owns)
    checkMemory(stage, talk, { smaller, room: step.bare ? 0 : Math.min(tokenBudget, before) });
  const summary = answered.result?.summary?.trim() ?? "";
  if (owns && summary !== "" && !saidIn(smaller, summary))
    stage.fail(
      "compact()",
      `answered a summary that stands for what was compacted, and the next view does not have it`,
    );
  // One that showed only part of it before may show as much now.
  const isDue = owns || !isCut;
  if (isDue && after >= before && before > tokenBudget)
    stage.fail(
      "compact()",
      `answered that it compacted, but the view went from ${before} to ${after} tokens`,
    );
}

/** After the reply; `isDeferred`: with leave to compact what was put off. */
export async function maintain(stage: Stage, talk: Talk, isDeferred: boolean): Promise<void> {
  if (isDeferred) noteCompaction(stage, talk);
  if (typeof stage.engine.maintain !== "function") return;
  let asked = 0;
  const complete: typeof quickModel.complete = (params) => {
    asked++;
    return quickModel.complete(params);
  };
  const loan = lendRewrite(stage, talk, "maintain()");
  const answered: unknown = await call(stage.engine, "maintain", {
    ...stage.ref(talk),
    ...(await stage.file(talk)),
    ...stage.settings(talk),
    ...(stage.host.tellsSettings && { abortSignal: new AbortController().signal }),
    runtimeContext: {
      ...stage.runtime(),
      llm: { complete },
      ...(stage.host.files && { rewriteTranscriptEntries: loan.rewrite }),
      ...(isDeferred && { allowDeferredCompactionExecution: true }),
    },
  });
  const shape = maintainShapeFault(answered);
  if (shape !== undefined) stage.fail("maintain()", `gave a result that no host takes: ${shape}`);
  loan.end();
  checkRewritten(stage, answered as MaintainResult, loan.done);
  const { turnMaintenanceMode } = stage.engine.info;
  if (loan.done.length > 0 && !isDeferred && turnMaintenanceMode === "background")
    stage.fail("maintain()", "rewrote the transcript before the reply, and says it does so behind");
  if (asked > 0 && !isDeferred)
    stage.fail("maintain()", "asked a model without leave to do expensive work");
}

/** It tells of what was rewritten, and of nothing else. */
function checkRewritten(
  stage: Stage,
  { changed, rewrittenEntries }: MaintainResult,
  done: readonly TranscriptRewriteResult[],
): void {
  const rewritten = done.reduce((sum, one) => sum + one.rewrittenEntries, 0);
  if (changed !== rewritten > 0)
    stage.fail(
      "maintain()",
      changed
        ? "answered that it changed the transcript, which nobody did"
        : `answered that it changed nothing, and had ${rewritten} messages rewritten`,
    );
  if (changed && rewrittenEntries !== rewritten)
    stage.fail(
      "maintain()",
      `answered that it rewrote ${rewrittenEntries} messages, which were ${rewritten}`,
    );
}

/** Nothing of what was aborted is seen, now or later. */
async function afterAbort(
  stage: Stage,
  talk: Talk,
  {
    answered,
    whole,
    record,
  }: {
    answered: CompactResult | undefined;
    whole: AssembleResult;
    record: readonly AgentMessage[];
  },
): Promise<void> {
  if (answered?.compacted)
    stage.fail("compact()", "compacted all the same, although its signal was aborted before");
  if (answered?.code === "failed" || answered?.code === "not-written")
    stage.fail("compact()", `answered "${answered.code}" to an abort, which is nobody's failure`);
  await sleep(AFTERMATH_MS);
  same(stage, whole, await look(stage, talk, null), "a compaction that was aborted");
  if (differs(await recordOf(stage.engine, stage.ref(talk)), record))
    stage.fail("its record", "is another one after a compaction that was aborted");
}

/** What goes on behind an abort is done by then, ms. */
const AFTERMATH_MS = 10;

/** Those in which it throws. */
const FAILING: ReadonlySet<unknown> = new Set<ModelAnswer>(["fails", "breaks"]);
/** Those of which the signal is aborted as the model is asked. */
const ABORTING: ReadonlySet<unknown> = new Set<ModelAnswer>(["aborted", "late"]);
/** And those by somebody else. */
const ABORTED: ReadonlySet<unknown> = new Set<ModelAnswer>(["before", "soon"]);

/**
 * What the model does that an engine may ask; `signal` is aborted then. `mayEnd`: perhaps the
 * engine had done its work when that came.
 */
function modelFor(stage: Stage, talk: Talk, { answer }: { answer?: ModelAnswer | undefined }) {
  const abort = ABORTING.has(answer) || ABORTED.has(answer) ? new AbortController() : undefined;
  if (answer === "before") abort?.abort();
  const failure = new Error("the model is overloaded");
  let failed = false;
  const complete: typeof quickModel.complete = async (params) => {
    checkAsked(stage, talk, params);
    if (FAILING.has(answer)) {
      failed = true;
      if (answer === "breaks") await sleep(AFTERMATH_MS / 2);
      throw failure;
    }
    if (ABORTING.has(answer)) abort?.abort();
    if (answer !== "late") abort?.signal.throwIfAborted();
    const said = await quickModel.complete(params);
    if (answer === "nothing") return { ...said, text: " \n" };
    if (answer === "names") return { ...said, text: namesIn(params) };
    return answer === "much" ? { ...said, text: `${said.text} `.repeat(MUCH) } : said;
  };
  return {
    ...{ complete, failure, mayEnd: answer === "soon", hasFailed: () => failed },
    ...(abort && { signal: abort.signal }),
    /** The call was made. */
    asked: () => answer === "soon" && abort?.abort(),
  };
}

type Asking = Parameters<typeof quickModel.complete>[0];

/** What a model is asked is text, and of this session. */
function checkAsked(stage: Stage, talk: Talk, { messages }: Asking): void {
  const isAsked =
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every(({ role, content }) => SPEAKERS.has(role) && typeof content === "string");
  if (!isAsked) stage.fail("compact()", "asked a model something that is no list of texts");
  const stranger = strangeIn(talk.transcript)(JSON.stringify(messages));
  if (stranger !== undefined) stage.fail("compact()", `asked a model about ${stranger}`);
}

const SPEAKERS: ReadonlySet<unknown> = new Set(["system", "user", "assistant"]);

/** Few of the names that a model was told, mostly the last ones. */
function namesIn({ messages }: Asking): string {
  const names = marksIn(messages.map(({ content }) => content).join("\n"));
  const some = names.length > FEW ? [names[0]!, ...names.slice(1 - FEW)] : names;
  return some.length === 0 ? "Nothing was named." : `It was about ${some.join(" ")}`;
}

const FEW = 5;

/** Times that a model says again what it said. */
const MUCH = 300;

/** Undefined: it threw for the abort. */
async function answerOf(
  stage: Stage,
  asked: CompactParams,
  { failure, signal }: { failure: Error; signal?: AbortSignal },
): Promise<CompactResult | undefined> {
  try {
    return await call(stage.engine, "compact", asked);
  } catch (error) {
    const thrown = (error as Error).cause;
    if (signal?.aborted && (thrown === signal.reason || isAbort(thrown))) return undefined;
    if (thrown === failure)
      stage.fail("compact()", "threw what its model threw, and so is set aside when it is needed");
    throw error;
  }
}

/** The host compacts by itself, whatever engine is chosen. */
export function compactByHost(talk: Talk): void {
  if (!talk.transcript.compact().compacted) return;
  talk.isAmple = false;
  talk.readsOtherwise();
}

/** What it reports of sizes is not far from what is there. */
function checkNumbers(
  stage: Stage,
  done: CompactResult["result"],
  seen: { whole: AssembleResult; smaller: AssembleResult; currentTokenCount: number },
): void {
  // Under a budget of its own an engine counts what it would show within that.
  if (done === undefined || stage.host.budget !== null) return;
  const [before, after] = [seen.whole, seen.smaller].map(({ messages }) =>
    estimateMessages(messages),
  );
  const most = Math.max(before!.high, seen.currentTokenCount);
  if (done.tokensBefore > MOST_TIMES * most + MOST_MORE || done.tokensBefore < before!.low / 4)
    stage.fail(
      "compact()",
      `reported ${done.tokensBefore} tokens before, of a view of ${before!.low} to ${before!.high}`,
    );
  const { tokensAfter } = done;
  if (tokensAfter === undefined) return;
  if (tokensAfter > MOST_TIMES * after!.high + MOST_MORE || tokensAfter < after!.low / 4)
    stage.fail(
      "compact()",
      `reported ${tokensAfter} tokens after, and the next view has ${after!.low} to ${after!.high}`,
    );
}

/** Counters differ, and some count what is around the messages. */
const MOST_TIMES = 4;
const MOST_MORE = 2_000;

/** The newest request stays as it was said. */
function checkRequest(stage: Stage, talk: Talk, { messages }: AssembleResult): void {
  const given = talk.transcript.history(stage.host);
  const newest = given.findLastIndex(
    (message, at) => message.role === "user" && !inHeartbeat(given, at),
  );
  const request = given[newest];
  if (request === undefined || !isPlain(request) || !isKnowable(request)) return;
  if (!placesOf(messages, given).includes(newest))
    stage.fail("compact()", `took the newest request away: ${named(request)} is not shown`);
}

/** What its host added to the part that stays is there as before. */
function checkNotes(stage: Stage, whole: AssembleResult, smaller: AssembleResult): void {
  const stayed = new Set(placesOf(smaller.messages, whole.messages));
  const isTalk = (message: AgentMessage) => isPlain(message) && isKnowable(message);
  const gone = whole.messages.findLastIndex((message, at) => isTalk(message) && !stayed.has(at));
  const said = (smaller.systemPromptAddition ?? "") + smaller.messages.map(textOf).join("\n");
  const first = whole.messages.findIndex((message, at) => at > gone && isTalk(message));
  const lost = whole.messages.find(
    (message, at) =>
      first >= 0 &&
      at > first &&
      message.role === "custom" &&
      !stayed.has(at) &&
      isKnowable(message) &&
      !said.includes(textOf(message)),
  );
  if (lost !== undefined)
    stage.fail("compact()", `lost ${named(lost)}, which stands in the part that stays`);
}

/** Of the room that was given: a summary that takes no more could stay as it is. */
const SMALL = 1 / 32;
/** Free room for so many of the summary before is room for one, whatever its share of it is. */
const TIMES = 8;

/**
 * What a summary stood for that there is room for is not all gone from one that says as much;
 * `room`: no more than the view took that was to become smaller.
 */
function checkMemory(
  stage: Stage,
  talk: Talk,
  { smaller, room }: { smaller: AssembleResult; room: number },
): void {
  const { messages, systemPromptAddition = "" } = smaller;
  const given = talk.transcript.history(stage.host);
  const places = placesOf(messages, given);
  const own = messages.filter((_, at) => places[at] === undefined).map(textOf);
  const now = [systemPromptAddition, ...own].join("\n").trim();
  const { text: before, room: roomBefore } = talk.summed ?? { text: "", room: Infinity };
  talk.summed = { text: now, room: room || Infinity };
  // A list of names has them without the signs around.
  const known = marksIn([before, ...given.map(textOf)].join("\n")).filter((mark) =>
    before.includes(mark.slice(1, -1)),
  );
  if (now === before || known.length === 0) return;
  // Whoever gives a summary a share of its room may have had more of it before.
  const hadRoom =
    room >= roomBefore &&
    estimateMessages(messages).high + TIMES * estimateText(before).high <= room;
  const saysAsMuch = now.length >= before.length && estimateText(before).high <= SMALL * room;
  if (!hadRoom && !saysAsMuch) return;
  const shown = JSON.stringify(smaller);
  if (!known.some((mark) => shown.includes(mark.slice(1, -1))))
    stage.fail(
      "compact()",
      "forgot all that its summary before stood for, though there was room: the next view has nothing of it",
    );
}

function noteCompaction(stage: Stage, talk: Talk): void {
  if (!stage.owns()) return;
  talk.isAmple = false;
  talk.isCompacted = true;
}

/** Moves the session where its engine says that it goes on. */
async function adopt(
  stage: Stage,
  talk: Talk,
  done:
    | { sessionId?: string; sessionTarget?: { sessionId: string }; sessionFile?: string }
    | undefined,
): Promise<void> {
  const sessionId = done?.sessionTarget?.sessionId ?? done?.sessionId;
  const { transcript } = talk;
  if (sessionId === undefined || sessionId === transcript.sessionId) return;
  const file = done?.sessionFile ?? stage.fileOf(sessionId);
  const text = await stage.context.storage.read?.(file);
  if (text === undefined)
    return stage.fail("compact()", `named the successor ${sessionId}, whose file cannot be read`);
  transcript.move(sessionId, activeBranch(parseTranscript(text).entries));
  talk.beginsAgain();
}

/** Half a sign may be lost in what is stored. */
const saidIn = ({ messages, systemPromptAddition = "" }: AssembleResult, summary: string) =>
  [systemPromptAddition, ...messages.map(textOf)].some((text) =>
    text.toWellFormed().includes(summary.toWellFormed()),
  );

const sizeOf = ({ messages }: AssembleResult) => estimateMessages(messages).estimate;
