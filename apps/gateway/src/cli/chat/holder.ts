// Decides whether what is said in a chat goes through the gateway of its home.
import type { Config } from "../../config/schema.ts";
import { describeMissing, type GatewayLookup, type OwnGateway } from "../../gateway-client.ts";
import { describeOtherSettings, otherSettings } from "../../running-settings.ts";
import { type Output, printable } from "../../terminal/output.ts";
import type { Overrides } from "../setup.ts";

/** Undefined: this process holds the session itself, and the person is told if that is odd. */
export function holderOf(
  found: GatewayLookup,
  { model, engine }: Overrides,
  config: Pick<Config, "agents" | "plugins">,
  output: Pick<Output, "note">,
): OwnGateway | undefined {
  const isOverridden = model !== undefined || engine !== undefined;
  if (found.kind === "running" && !isOverridden) {
    const others = describeOtherSettings(otherSettings(found.gateway, config));
    if (others !== null) output.note(printable(`warning: ${others}`));
    return found.gateway;
  }
  if (found.kind === "running") output.note(ALONE);
  else if (found.kind !== "none" && found.kind !== "stranger")
    output.note(`warning: ${describeMissing(found)}; this chat goes on alone`);
  return undefined;
}

const ALONE =
  "--model and --engine are for this chat alone, so it does not go through the gateway.";
