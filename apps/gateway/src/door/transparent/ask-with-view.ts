// Asks the model with a view of the history, and once more with a smaller one.
import type { ModelError } from "@clew/plugin-sdk/host";
import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { classifyRefusal, type Refusal, readRefusal } from "../../passing/refusal.ts";
import type { DoorOutlet } from "../call/door-call.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import { type DoorTurn, viewOf } from "../turn/door-turn.ts";
import { reach, type Unreached } from "../upstream/reach.ts";
import type { MadeView } from "../view/make-view.ts";
import { learnOverflow } from "./learn-size.ts";
import type { TransparentParts } from "./parts.ts";

export interface Shown {
  view: MadeView;
  /** The bytes that were sent. */
  bytes: number;
  outcome: UpstreamAnswer | Unreached | (Refusal & { error: ModelError });
}

/** Once more, and smaller, where the model server says that it is too much. */
export async function askWithView(
  parts: TransparentParts,
  turn: DoorTurn,
  { outlet, onAsked }: { outlet: DoorOutlet; onAsked: (view: MadeView) => void },
): Promise<Shown> {
  const { memory } = parts;
  let view = await showAndKeep(parts, turn, (notes) => notes);
  parts.recorder.request(turn, memory.notesOf(turn.key));
  for (let tries = 1; ; tries++) {
    if (view.overflow !== undefined) return { view, bytes: 0, outcome: NOT_SENT };
    turn.gone.throwIfAborted();
    const body = view.bytes;
    onAsked(view);
    parts.recorder.asked(turn, { view, scale: memory.notesOf(turn.key).scale });
    await parts.recorder.begun(turn);
    const isUnpacked = view.recallRoom !== undefined;
    const asked = { visit: turn.call, upstream: turn.upstream, body, isUnpacked };
    const answer = await reach(parts, { ...asked, signal: outlet.gone });
    turn.gone.throwIfAborted();
    if ("problem" in answer || answer.status < 400)
      return { view, bytes: body.length, outcome: answer };
    const refusal = await readRefusal(answer);
    const error = classifyRefusal(refusal, turn);
    const outcome = { ...refusal, error };
    if (error.kind !== "overflow") return { view, bytes: body.length, outcome };
    const refused = view;
    view = await showAndKeep(parts, turn, (notes) =>
      learnOverflow(notes, { error, view: refused, window: turn.window }),
    );
    if (tries > 1 || view.overflow !== undefined)
      return { view: refused, bytes: body.length, outcome };
  }
}

/** Of a long history in slices: where the session's view moved meanwhile, once more from there. */
async function showAndKeep(
  parts: TransparentParts,
  turn: DoorTurn,
  learn: (notes: SessionNotes) => SessionNotes,
): Promise<MadeView> {
  const { memory, lookUp } = parts;
  for (;;) {
    const before = memory.notesOf(turn.key);
    const notes = learn(before);
    const view = await viewOf(turn, notes, lookUp.tools);
    if (memory.notesOf(turn.key) !== before) continue;
    keep(parts, turn, notes, view);
    return view;
  }
}

export const NOT_SENT: Unreached = { status: 400, problem: "" };

/** A request beside a session moves nothing. */
function keep(
  { memory }: TransparentParts,
  { key, match }: DoorTurn,
  notes: SessionNotes,
  { plan, overflow }: MadeView,
): void {
  if (match.kind !== "turn") return;
  memory.note(key, overflow === undefined ? { ...notes, marks: plan.marks } : notes);
}
