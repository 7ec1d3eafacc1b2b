// One turn of a session, from the person's message to the engine's acknowledgement.
import type { AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage, ToolCallBlock } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { textOf } from "../../transcript/text.ts";
import { maintain } from "./compaction.ts";
import { markOf } from "./marks.ts";
import type { Turn } from "./script.ts";
import { view } from "./show.ts";
import { answer, calling, request, result } from "./speech.ts";
import type { Stage } from "./stage.ts";
import type { Talk, ToldTurn } from "./talk.ts";
import { bootstrap, catchUp, tell } from "./tell.ts";
import type { Transcript } from "./transcript.ts";

export async function runTurn(stage: Stage, talk: Talk, step: Turn): Promise<void> {
  const { host } = stage;
  const { transcript } = talk;
  const saying = transcript.next();
  const message = request(step.says, saying, step.heartbeat);
  const turn: ToldTurn = { ids: [], notes: talk.notes.splice(0), heartbeat: step.heartbeat };
  const says = (one: AgentMessage) =>
    void turn.ids.push(transcript.append({ type: "message", message: one }));
  const isServed = step.ends !== "missed";
  const before = transcript.history(host);
  talk.turns++;
  if (isServed) {
    await bootstrap(stage, talk);
    await catchUp(stage, talk);
  }
  const asked = textOf(message);
  const mark =
    step.says === "same" && !step.heartbeat ? undefined : markOf(saying.tag, saying.number);
  let shown = isServed
    ? await view(stage, talk, { messages: before, prompt: asked, mark, budget: host.budget })
    : undefined;
  says(message);
  if (step.ends === "failed") return void talk.missed.push(turn);
  for (const [at, kinds] of step.tools.entries()) {
    useTools(stage, talk, { kinds, at, says });
    if (shown !== undefined) shown = await goOn(stage, talk, { turn, before, shown });
  }
  const read = [...(shown?.messages ?? before), ...transcript.history().slice(before.length)];
  const prompt = estimateMessages(read).estimate;
  says(answer(step.answers, transcript.next(), { heartbeat: step.heartbeat, prompt }));
  if (!isServed) return void talk.missed.push(turn);
  await tell(stage, talk, turn);
  await maintain(stage, talk, false);
}

function useTools(
  { host }: Stage,
  { transcript, turns }: Talk,
  {
    kinds,
    at,
    says,
  }: { kinds: Turn["tools"][number]; at: number; says: (message: AgentMessage) => void },
): void {
  const saying = transcript.next();
  const begins = host.repeatsCalls ? `read:${at}` : `call_${saying.tag}_${turns}_${at}`;
  const reply = calling(kinds.length, saying, (index) => `${begins}.${index}`);
  says(reply);
  const calls = (reply as { content: unknown[] }).content.filter(isCall);
  // What is called together often ends within the same millisecond.
  for (const [index, one] of calls.entries())
    says(result(kinds[index]!, one, { ...transcript.next(), timestamp: saying.timestamp + 1 }));
}

/** The view before the next request of a running turn. */
async function goOn(
  stage: Stage,
  talk: Talk,
  {
    turn,
    before,
    shown,
  }: { turn: ToldTurn; before: readonly AgentMessage[]; shown: AssembleResult },
): Promise<AssembleResult> {
  const { budget, feedsBack } = stage.host;
  const owns = stage.owns();
  if (stage.commits() || feedsBack) {
    if (!owns) return shown;
    // Such a host adds the running turn by itself.
    const messages = feedsBack ? shown.messages : before;
    return view(stage, talk, { messages, budget, isOwn: feedsBack });
  }
  if (owns) await tell(stage, talk, turn);
  const messages = talk.transcript.history(stage.host);
  const running = messages.findIndex((message) => talk.transcript.idOf(message) === turn.ids[0]);
  return view(stage, talk, { messages, budget, running });
}

/** What a host stores between turns. */
export function note(kind: "bash" | "custom", transcript: Transcript): string {
  const { tag, number, timestamp } = transcript.next();
  const mark = markOf(tag, number);
  if (kind === "custom")
    return transcript.append({
      type: "custom_message",
      customType: "kit",
      content: `a note ${mark}`,
    });
  const message = {
    role: "bashExecution" as const,
    command: `ls ${mark}`,
    output: "a\nb",
    exitCode: 0,
    timestamp,
  };
  return transcript.append({ type: "message", message });
}

const isCall = (block: unknown): block is ToolCallBlock =>
  (block as { type?: unknown }).type === "toolCall";
