// Decides who owns the history of a request.
import type { DoorConfig } from "../../config/door.ts";
import { type DoorCall, headerOf } from "../call/door-call.ts";

/** By this header a client names a session of Clew's. */
export const SESSION_HEADER = "x-clew-session";

export function planMode(
  mode: DoorConfig["mode"],
  { headers, body, wire }: Pick<DoorCall, "headers" | "body" | "wire">,
): "transparent" | "session" {
  if (mode !== "auto") return mode;
  const names =
    headerOf(headers, SESSION_HEADER) !== undefined ||
    (wire.api === "openai-responses" &&
      (isNamed(body.previous_response_id) || isNamed(body.conversation)));
  return names ? "session" : "transparent";
}

const isNamed = (value: unknown) => value !== undefined && value !== null && value !== "";
