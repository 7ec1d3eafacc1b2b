// Decides who owns the history of a request.
import type { DoorConfig } from "../../config/door.ts";
import { headerOf } from "../../passing/raw-headers.ts";
import { type DoorCall, SESSION_HEADER } from "../call/door-call.ts";
import { placeOfReply } from "../session/reply-id.ts";

export function planMode(
  mode: DoorConfig["mode"],
  { headers, body, wire }: Pick<DoorCall, "headers" | "body" | "wire">,
): "transparent" | "session" {
  if (mode !== "auto") return mode;
  const names =
    headerOf(headers, SESSION_HEADER) !== undefined ||
    (wire.api === "openai-responses" &&
      (isOurs(body.previous_response_id) || isNamed(body.conversation)));
  return names ? "session" : "transparent";
}

/** Another server may keep histories, too: it knows its own. */
const isOurs = (id: unknown) => typeof id === "string" && placeOfReply(id) !== undefined;

const isNamed = (value: unknown) => value !== undefined && value !== null && value !== "";
