// Decides which of a soak's clients talk through the door, in which mode and by which wire.
import { DOOR_APIS } from "../../../gateway/src/config/door.ts";
import type { Talk } from "./door-client.ts";

/** Undefined: by the HTTP API of sessions. */
export type Talker = Pick<Talk, "mode" | "api"> | undefined;

/** Pure. Of six, two keep their history themselves, and one names a session. */
export function whoTalks(at: number): Talker {
  const six = Math.floor(at / 6);
  const apiOf = (number: number) => DOOR_APIS[number % DOOR_APIS.length]!;
  switch (at % 6) {
    case 0:
      return { mode: "transparent", api: apiOf(2 * six) };
    case 3:
      return { mode: "transparent", api: apiOf(2 * six + 1) };
    case 5:
      return { mode: "session", api: apiOf(six) };
    default:
      return undefined;
  }
}
