// Asks an engine to compact and to maintain as hosts do, and checks what became smaller.
import type { AssembleResult } from "../../contract/lifecycle.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { parseTranscript } from "../../transcript/parse.ts";
import { textOf } from "../../transcript/text.ts";
import { quickModel } from "../case-session.ts";
import { call } from "../engine-call.ts";
import { inHeartbeat, isKnowable, isPlain, named } from "./judge-view.ts";
import { marksIn } from "./marks.ts";
import { placesOf } from "./place.ts";
import { compactShapeFault } from "./result-shape.ts";
import type { Step } from "./script.ts";
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
  const answered = await call(stage.engine, "compact", {
    ...stage.ref(talk),
    ...(await stage.file(talk)),
    ...(!step.bare && { tokenBudget, currentTokenCount, compactionTarget: step.asked }),
    ...(!step.bare && { force: true }),
    runtimeContext: {
      ...(!step.bare && stage.runtime(tokenBudget)),
      ...(step.model && { llm: quickModel }),
    },
  });
  const shape = compactShapeFault(answered);
  if (shape !== undefined) stage.fail("compact()", `gave a result that no host takes: ${shape}`);
  const stranger = strangeIn(talk.transcript)(JSON.stringify(answered));
  if (stranger !== undefined) stage.fail("compact()", `answered ${stranger}`);
  if (!owns && compactions.length === delegated)
    stage.fail("compact()", "did not reach the host's built-in compaction, and owns none");
  if (!answered.compacted) {
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
  if (owns) checkRequest(stage, talk, smaller);
  if (owns) checkMemory(stage, talk, { smaller, room: step.bare ? 0 : tokenBudget });
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
  await call(stage.engine, "maintain", {
    ...stage.ref(talk),
    ...(await stage.file(talk)),
    runtimeContext: {
      ...stage.runtime(),
      llm: quickModel,
      ...(isDeferred && { allowDeferredCompactionExecution: true }),
    },
  });
}

/** The newest request stays as it was said. */
function checkRequest(stage: Stage, talk: Talk, { messages }: AssembleResult): void {
  const given = talk.transcript.history(stage.host);
  const newest = given.findLastIndex(
    (message, at) => message.role === "user" && isPlain(message) && !inHeartbeat(given, at),
  );
  const request = given[newest];
  if (request === undefined || !isKnowable(request)) return;
  if (!placesOf(messages, given).includes(newest))
    stage.fail("compact()", `took the newest request away: ${named(request)} is not shown`);
}

/** Of the room that was given: a summary that takes no more could stay as it is. */
const SMALL = 1 / 32;

/** What a summary stood for that there is room for is not all gone from one that says as much. */
function checkMemory(
  stage: Stage,
  talk: Talk,
  { smaller, room }: { smaller: AssembleResult; room: number },
): void {
  const { messages, systemPromptAddition = "" } = smaller;
  const places = placesOf(messages, talk.transcript.history(stage.host));
  const own = messages.filter((_, at) => places[at] === undefined).map(textOf);
  const now = [systemPromptAddition, ...own].join("\n").trim();
  const { text: before, room: roomBefore } = talk.summed ?? { text: "", room: Infinity };
  talk.summed = { text: now, room: room || Infinity };
  const known = marksIn(before);
  if (now === before || known.length === 0) return;
  // Whoever gives a summary a share of its room may have had more of it before.
  const hadRoom =
    room >= roomBefore && estimateMessages(messages).high + 2 * estimateText(before).high <= room;
  const saysAsMuch = now.length >= before.length && estimateText(before).high <= SMALL * room;
  if (!hadRoom && !saysAsMuch) return;
  const shown = JSON.stringify(smaller);
  // A list of names has them without the signs around.
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

const saidIn = ({ messages, systemPromptAddition = "" }: AssembleResult, text: string) =>
  systemPromptAddition.includes(text) || messages.some((message) => textOf(message).includes(text));

const sizeOf = ({ messages }: AssembleResult) => estimateMessages(messages).estimate;
