// Decides what becomes of a message once it is known how its sending went.
import { parseLine } from "../../commands/parse.ts";
import type { Sent } from "./api.ts";

export type AfterSend =
  /** Nobody knows whether it has arrived: it is sent again under its name. */
  | { kind: "again" }
  /** It changed something, perhaps how the session stands. */
  | { kind: "answered" }
  /** The session tells it. */
  | { kind: "said" }
  /** `isKept`: it is nowhere else, and goes back into the line. */
  | { kind: "refused"; problem: string; isKept: boolean };

/** Pure. `isWaiting`: nothing has told yet that it was taken. `isLineEmpty`: nothing is written. */
export function planAfterSend(
  came: Sent,
  text: string,
  { isWaiting, isLineEmpty }: { isWaiting: boolean; isLineEmpty: boolean },
): AfterSend {
  if (came.kind === "answered") return { kind: "answered" };
  if (came.kind === "said") return { kind: "said" };
  if (AGAIN_CODES.includes(came.code) && isWaiting && !isCommand(text)) return { kind: "again" };
  if (came.code === "ABORTED") return { kind: "said" };
  const problem = `${came.message} [${came.code}]`;
  return { kind: "refused", problem, isKept: isWaiting && isLineEmpty };
}

/** Of a gateway that ends, or of none. */
const AGAIN_CODES: readonly string[] = ["AWAY", "GATEWAY_STOPPING"];

/** What a command did is not known by its name. */
const isCommand = (text: string) => parseLine(text).kind === "command";
