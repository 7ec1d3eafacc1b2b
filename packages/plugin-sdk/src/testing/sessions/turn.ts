// One turn of a session, from the person's message to the engine's acknowledgement.
import type { AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage, ToolCallBlock } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { textOf } from "../../transcript/text.ts";
import { maintain } from "./compaction.ts";
import { markOf } from "./marks.ts";
import type { Circumstances, Step, Turn } from "./script.ts";
import { view } from "./show.ts";
import { answer, calling, picture, request, result } from "./speech.ts";
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
  if (host.changes) transcript.note({ type: "model_change", ...modelOf(host, talk) });
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
  if (step.ends === "aborted") {
    const reply = calling(1 + (step.tools[0]?.length ?? 0), transcript.next(), callIds(host, talk));
    says({ ...reply, stopReason: "aborted" } as AgentMessage);
    return void talk.missed.push(turn);
  }
  for (const [at, kinds] of step.tools.entries()) {
    useTools(stage, talk, { kinds, at, says });
    if (shown !== undefined) shown = await goOn(stage, talk, { turn, before, shown });
  }
  const read = [...(shown?.messages ?? before), ...transcript.history().slice(before.length)];
  const prompt = estimateMessages(read).estimate;
  const model = modelOf(host, talk).modelId;
  says(answer(step.answers, transcript.next(), { heartbeat: step.heartbeat, prompt, model }));
  if (!isServed) return void talk.missed.push(turn);
  await tell(stage, talk, turn);
  await maintain(stage, talk, false);
}

function useTools(
  { host }: Stage,
  talk: Talk,
  {
    kinds,
    at,
    says,
  }: { kinds: Turn["tools"][number]; at: number; says: (message: AgentMessage) => void },
): void {
  const { transcript } = talk;
  const saying = transcript.next();
  const reply = calling(kinds.length, saying, callIds(host, talk, at));
  says(reply);
  const calls = (reply as { content: unknown[] }).content.filter(isCall);
  // What is called together often ends within the same millisecond.
  const results = calls.map((one, index) =>
    result(kinds[index]!, one, { ...transcript.next(), timestamp: saying.timestamp + 1 }),
  );
  for (const one of host.anyOrder ? results.reverse() : results) says(one);
}

/** Of the calls that one reply makes, the `at`th with calls in its turn. */
function callIds({ repeatsCalls, oddNames }: Circumstances, { transcript, turns }: Talk, at = 0) {
  const begins = repeatsCalls ? `read:${at}` : `call_${transcript.tag}_${turns}_${at}`;
  return (index: number) =>
    oddNames ? `${begins}|fc/${["a", "A", "a:", "á"][index] ?? index}` : `${begins}.${index}`;
}

/** Which model answers. */
const modelOf = ({ changes }: Circumstances, { turns }: Talk) => ({
  provider: "kit",
  modelId: changes && turns % 2 === 1 ? "kit-2" : "kit-1",
});

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

/** Turns that another engine answers, and that this one is told of when it is asked next. */
export function chat({ transcript, missed }: Talk, turns: number): void {
  for (let turn = 0; turn < turns; turn++)
    missed.push({ ids: shortTurn(transcript), notes: [], heartbeat: false });
}

/** Stores a request and a reply; their ids. */
export function shortTurn(transcript: Transcript): string[] {
  const says = (message: AgentMessage) => transcript.append({ type: "message", message });
  return [
    says(request("plain", transcript.next(), false)),
    says(answer("plain", transcript.next(), { heartbeat: false, prompt: 0 })),
  ];
}

/** What a host stores between turns. */
export function note(kind: Extract<Step, { do: "note" }>["kind"], transcript: Transcript): string {
  const saying = transcript.next();
  const { tag, number, timestamp } = saying;
  const mark = markOf(tag, number);
  if (kind === "branch")
    return transcript.append({
      ...{ type: "branch_summary", fromId: "root" },
      summary: `On another branch ${mark} was tried.`,
    });
  if (kind === "blocks")
    return transcript.append({
      ...{ type: "custom_message", customType: "kit", display: false },
      content: [{ type: "text", text: `a picture ${mark}` }, picture(saying)],
      details: { of: number },
    });
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
