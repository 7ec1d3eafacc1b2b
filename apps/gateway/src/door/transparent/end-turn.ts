// Tells memory and record how a turn at the door ended.
import type { ModelError } from "@clew/plugin-sdk/host";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { withCost } from "../../costs/cost.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { Recalled } from "../recall/answer-with-recall.ts";
import { usageOfAll } from "../recall/usage-of-all.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import type { PeekedReply } from "../upstream/peek-reply.ts";
import type { Unreached } from "../upstream/reach.ts";
import type { MadeView } from "../view/make-view.ts";
import type { DoorAnswer } from "../wires/door-wire.ts";
import type { Shown } from "./ask-with-view.ts";
import { learnOverflow, learnUsage } from "./learn-size.ts";
import type { TransparentParts } from "./parts.ts";
import { replyEventOf } from "./reply-event.ts";

/** Of all of these the status is what the client is told. */
export const tooLarge = ({ status }: DoorAnswer): ModelError => ({
  ...{ kind: "overflow", status },
  message: "The request does not fit into the model's window, whatever is left out of it.",
});

export const networkError = ({
  status,
  problem,
  kind = "network",
  unsent,
}: Unreached): ModelError => ({
  ...({ kind, message: problem, status } as ModelError),
  ...(unsent && { unsent }),
});

export const FAILED: ModelError = {
  ...{ kind: "network", status: 500 },
  message: "The gateway failed; its log says how.",
};

export function endTurn(
  { memory, recorder }: TransparentParts,
  turn: DoorTurn,
  ended: PeekedReply | ModelError,
  shown?: Shown,
  recalled?: Recalled,
): void {
  const came: PeekedReply =
    "message" in ended && typeof ended.message === "object"
      ? (ended as PeekedReply)
      : { message: NOTHING, error: ended as ModelError };
  const isEnded = came.error !== undefined && turn.gone.aborted;
  const reply = isEnded ? { ...came, error: whyGone(turn) } : came;
  const { resolved } = turn.upstream;
  const [first, ...others] = [...(recalled?.earlier ?? []), reply.message].map((one) =>
    withCost(one, {}, resolved.prices),
  );
  const usage = usageOfAll([first!, ...others]);
  const message = { ...reply.message, ...(usage !== undefined && { usage }) };
  const event = replyEventOf(turn, { ...reply, message }, endOf(turn.event));
  memory.learn(event);
  if (shown !== undefined && turn.match.kind === "turn")
    memory.note(
      turn.key,
      learned(memory.notesOf(turn.key), turn, shown.view, {
        ...reply,
        message: { ...reply.message, ...(first?.usage && { usage: first.usage }) },
      }),
    );
  recorder.reply(turn, {
    ...{ reply: { ...reply, message }, event, notes: memory.notesOf(turn.key) },
    ...(shown !== undefined && { view: shown.view }),
    ...(others.length > 0 &&
      recalled !== undefined && {
        recalled: { lookedUp: recalled.lookedUp, firstUsage: first?.usage },
      }),
    durationMs: performance.now() - turn.began,
  });
}

const endOf = ({ end, behindFirst }: DoorTurn["event"]) => ({
  end,
  ...(behindFirst !== undefined && { behindFirst }),
});

const whyGone = ({ gone }: DoorTurn): ModelError => ({
  kind: "aborted",
  message: (gone.reason as Error).message,
});

/** Some say only behind the status that a prompt is too long; one that was refused was learned. */
function learned(
  notes: SessionNotes,
  { window }: DoorTurn,
  view: MadeView,
  { message, error, isStreamed }: PeekedReply,
): SessionNotes {
  if (error?.kind === "overflow")
    return isStreamed ? learnOverflow(notes, { error, view, window }) : notes;
  return message.usage === undefined
    ? notes
    : learnUsage(notes, view, promptTokensOf(message.usage));
}

const NOTHING = { role: "assistant", content: [], stopReason: "error" } as const satisfies {
  role: "assistant";
} & PeekedReply["message"];
