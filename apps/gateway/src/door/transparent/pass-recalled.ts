// Passes the last reply of a model that looked something up by the recall tools.
import { classifyRefusal, readRefusal } from "../../passing/refusal.ts";
import { answerWith } from "../call/door-call.ts";
import { endedHere } from "../call/under-way.ts";
import { answerWithRecall } from "../recall/answer-with-recall.ts";
import { passHeld } from "../recall/hold-reply.ts";
import { tellEnded } from "../reply/tell-ended.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import { endTurn, FAILED, networkError } from "./end-turn.ts";
import type { TransparentParts } from "./parts.ts";
import { orGone, type Passed, passRefusal } from "./pass-reply.ts";

/** The client sees only the last reply; what breaks off behind a sign of life it asks again. */
export async function passRecalled(
  parts: TransparentParts,
  turn: DoorTurn,
  { answer, outlet, named, shown, recallRoom: room }: Passed & { recallRoom: number },
): Promise<void> {
  const { answerBytes } = parts.host.config.gateway.limits;
  const asked = { ...{ turn, answer, room, outlet, named }, view: shown.view };
  const recalled = await answerWithRecall({ ...parts, answerBytes }, asked).catch(
    (error: unknown) => {
      endTurn(parts, turn, FAILED, shown);
      throw error;
    },
  );
  const { last } = recalled;
  if ("pieces" in last) {
    const tell = parts.recorder.follow(turn);
    for (const event of last.events) tell(event);
    endTurn(parts, turn, last.reply, shown, recalled);
    const ended = endedHere(turn.gone);
    if (ended === undefined) {
      await orGone(turn, parts.recorder.kept(turn));
      return passHeld(last, outlet, named);
    }
    const begun = { headers: last.answer.headers, tail: new Uint8Array() };
    return tellEnded(outlet, turn.call, { ended, named, begun });
  }
  if ("problem" in last) {
    endTurn(parts, turn, networkError(last), shown, recalled);
    if (outlet.hasBegun) return outlet.breakOff();
    return answerWith(outlet, turn.call.wire.error(last.status, last.problem), named);
  }
  const refusal = await readRefusal(last);
  endTurn(parts, turn, classifyRefusal(refusal, turn), shown, recalled);
  if (outlet.hasBegun) outlet.breakOff();
  else passRefusal(refusal, outlet, named);
}
