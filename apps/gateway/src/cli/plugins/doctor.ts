// Prints what is wrong with plugins as they load.
import { loadConfig } from "../../config/load.ts";
import { pluginsAtHand } from "../../doctor/check-slots.ts";
import type { Finding } from "../../doctor/finding.ts";
import { pluginFindings } from "../../doctor/plugin-findings.ts";
import { silentLog } from "../../log/silent.ts";
import { bundledPlugins } from "../../plugins/find/bundled.ts";
import { recallRecords } from "../../plugins/find/engine-memory.ts";
import { startPlugins } from "../../plugins/start.ts";
import type { Shell } from "../../terminal/shell.ts";
import { printLines } from "./print-lines.ts";

type Flags = Record<string, boolean | undefined>;

export async function doctor({ json }: Flags, { environment, output }: Shell): Promise<number> {
  const loaded = await loadConfig(environment.configFile);
  const plugins = await startPlugins({ environment, loaded, log: silentLog, mode: "discovery" });
  const { home } = environment;
  const settings = loaded.config.plugins;
  const records = recallRecords(home, silentLog);
  const atHand = pluginsAtHand({ home, plugins: settings, records, bundled: bundledPlugins() });
  const findings: Finding[] = pluginFindings(plugins.records(), settings, {
    ownerOf: plugins.ownerOf,
    atHand: atHand.map(({ id }) => ({ id, off: null })),
  });
  await plugins.close("doctor is done");
  if (json) output.json({ findings });
  else
    printLines(
      output,
      findings.length === 0
        ? ["No plugins."]
        : findings.map(({ level, subject, text }) => `${level.padEnd(7)}  ${subject}: ${text}`),
    );
  return findings.some(({ level }) => level === "failure") ? 1 : 0;
}
