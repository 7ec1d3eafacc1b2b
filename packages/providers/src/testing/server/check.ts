// Checks one body against the rules of its wire, without a server.
import { isRecord } from "@clew/plugin-sdk/host";
import type { Violation } from "./options.ts";
import { type Accepted, brokenRules, type Call, type EmulatedWire } from "./wire.ts";

/** Every rule that the body breaks by itself; what only memory can tell is not among them. */
export function checkBody<View, A extends Accepted>(
  wire: Pick<EmulatedWire<View, A>, "failures" | "rules" | "view">,
  body: unknown,
  { path = "", headers = {}, flavor, account = "" }: Partial<Call> = {},
): Violation[] {
  if (!isRecord(body))
    return [{ rule: "body", level: "reject", text: wire.failures.json().message }];
  return brokenRules(wire.rules, wire.view(body, { path, headers, flavor, account }), flavor);
}
