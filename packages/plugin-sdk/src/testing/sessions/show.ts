// Asks an engine for views as hosts do, and checks what it shows.
import type { AssembleParams, AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { call } from "../engine-call.ts";
import { differs } from "./content.ts";
import { inHeartbeat, isPlain, viewFault } from "./judge-view.ts";
import { AMPLE, type Stage, strangeIn } from "./stage.ts";
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
}

/** The session as it is, beside any turn. */
export const look = (stage: Stage, talk: Talk, budget: number | null): Promise<AssembleResult> =>
  view(stage, talk, { messages: talk.transcript.history(stage.host), budget });

/** A view, and the same view after `work`, which adds nothing to the session. */
export async function unchanged(
  stage: Stage,
  talk: Talk,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> {
  if (talk.transcript.items().length === 0) return void (await work());
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
  { messages: given, budget, prompt, mark, running, isOwn = false }: Asked,
): Promise<AssembleResult> {
  const { engine, traits } = stage;
  const tokenBudget = budget ?? AMPLE;
  const { transcript } = talk;
  const kept = structuredClone([...given]);
  const hasRoom = estimateMessages(kept).high * 4 <= tokenBudget;
  talk.isAmple &&= hasRoom;
  // The list is the engine's own; what is in it is not.
  const handed = isOwn ? given : kept.map((message) => structuredClone(message));
  const params: AssembleParams = {
    ...stage.ref(talk),
    messages: [...handed],
    ...(budget !== null && { tokenBudget }),
    availableTools: new Set(["read", "run_command"]),
    model: "kit/kit-1",
    ...(prompt !== undefined && { prompt }),
    // In `assemble` only those get it who name it.
    ...(engine.info.acceptedHostParams?.includes("runtimeContext") && {
      runtimeContext: stage.runtime(tokenBudget),
    }),
  };
  const result = await call(engine, "assemble", params);
  if (differs(handed, kept)) stage.fail("assemble()", "changed a message it was given");
  const fault = viewFault(result, {
    given,
    versionsOf: transcript.versionsOf,
    elsewhere: leftIn(transcript),
    strange: strangeIn(transcript),
    running,
    prompt: mark,
    tokenBudget,
    hasRoom,
    isAmple: talk.isAmple,
    ownsCompaction: stage.owns(),
    showsAll: traits.showsAll,
    isToldNotes: !stage.commits(),
    drops: traits.drops,
  });
  if (fault !== undefined) stage.fail("assemble()", fault);
  if (!isOwn) goOnThread(stage, talk, { given: kept, budget, result });
  await checkSize(stage, result, { ...params, messages: kept, tokenBudget });
  return result;
}

/** A view that is too large says so. */
async function checkSize(
  stage: Stage,
  { messages, promptAuthority }: AssembleResult,
  params: AssembleParams & { tokenBudget: number },
): Promise<void> {
  const { tokenBudget } = params;
  const { low } = estimateMessages(messages);
  if (low <= tokenBudget || promptAuthority === "preassembly_may_overflow") return;
  if (stage.traits.saysOverflow)
    stage.fail(
      "assemble()",
      `showed at least ${low} tokens for a budget of ${tokenBudget}, without saying so as it does elsewhere`,
    );
  // One that shows the same whatever the room leaves the size to its host.
  const whole = await call(stage.engine, "assemble", {
    ...params,
    messages: structuredClone(params.messages),
    tokenBudget: AMPLE,
  });
  if (whole.messages.length > messages.length)
    stage.fail(
      "assemble()",
      `cut its view for ${tokenBudget} tokens to at least ${low}, without saying that it is more`,
    );
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
      ? { epoch, budget, given, shown: structuredClone(messages) }
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
  return transcript.allSaid().flatMap((message) => {
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
