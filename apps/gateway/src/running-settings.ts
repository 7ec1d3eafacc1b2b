// Says where a running gateway answers by other settings than the home has now.
import type { Config } from "./config/schema.ts";
import type { OwnGateway } from "./gateway-client.ts";
import { slotValue } from "./plugins/find/enablement.ts";

const FALLBACK = "legacy";

export interface OtherSetting {
  name: "model" | "engine";
  running: string;
  set: string;
}

/** Pure. Empty: it answers as the settings say. */
export function otherSettings(
  { health }: Pick<OwnGateway, "health">,
  { agents, plugins }: Pick<Config, "agents" | "plugins">,
): OtherSetting[] {
  const { model, engine } = health as { model?: string; engine?: { configured?: string | null } };
  // One that is known to be ours and tells neither is too busy, or about to end.
  if (model === undefined || engine === undefined) return [];
  const answering = slotValue({ slots: { contextEngine: engine.configured ?? "" } });
  const both: OtherSetting[] = [
    { name: "model", running: model, set: agents.defaults.model.primary },
    {
      name: "engine",
      running: answering ?? FALLBACK,
      set: slotValue(plugins) ?? FALLBACK,
    },
  ];
  return both.filter(({ running, set }) => running !== set);
}

/** Pure. With what to do, without a full stop; null = there is nothing to say. */
export function describeOtherSettings(others: readonly OtherSetting[]): string | null {
  if (others.length === 0) return null;
  const list = (of: (other: OtherSetting) => string) =>
    others.map((other) => `${other.name} ${of(other)}`).join(", ");
  return `the gateway runs with ${list(({ running }) => running)}, and the settings say ${list(({ set }) => set)}; "clew stop" and "clew start" make it read them`;
}
