// Runs `clew engine list`, which tells which context engines there are, and who has which.
import { composeHost } from "../../compose.ts";
import { agentIds, agentSettings } from "../../config/agent.ts";
import { bundledIds } from "../../plugins/find/bundled.ts";
import { slotValue } from "../../plugins/find/enablement.ts";
import { readRecords } from "../../plugins/find/records.ts";
import type { PluginHost } from "../../plugins/host.ts";
import { startPlugins } from "../../plugins/start.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { setUp } from "../setup.ts";

export interface ListedEngine {
  id: string;
  /** Null: it comes with the host. */
  plugin: string | null;
  /** Why it cannot answer as things are; null = it can. */
  problem: string | null;
  /** Agents whose settings name it. */
  agents: string[];
}

/** Loads plugins as a start would, and opens no session. */
export async function engineList(
  { json = false }: { json?: boolean },
  shell: Shell,
): Promise<number> {
  const { environment, loaded, log, output } = await setUp(shell, {}, { showProblems: false });
  const plugins = await startPlugins({ environment, loaded, log });
  try {
    const { config } = loaded;
    const host = composeHost({ environment, loaded, log, plugins, onMissingEngine: () => {} });
    const slot = slotValue(config.plugins) ?? "legacy";
    const named = agentIds(config).map((id) => ({
      agent: id,
      engine: agentSettings(config, environment.home, id).engine ?? slot,
    }));
    const there = host.engineIds().map((id) => ({ id, plugin: plugins.ownerOf(id) ?? null }));
    const others = enginesOff(environment.home, plugins, host.engineIds());
    const known = [...there.map((each) => ({ ...each, problem: null })), ...others];
    const ids = new Set(known.map(({ id }) => id));
    const nowhere = [...new Set(named.map(({ engine }) => engine))]
      .filter((id) => !ids.has(id))
      .map((id) => ({ id, plugin: null, problem: "not there; legacy answers" }));
    const engines = [...known, ...nowhere].map((each): ListedEngine => {
      const agents = named.flatMap(({ agent, engine }) => (engine === each.id ? [agent] : []));
      return { ...each, agents };
    });
    await host.close();
    if (json) output.json({ engines });
    else output.line(formatTable(["engine", "of", "agents", "state"], engines.map(rowOf)));
    return EXIT.done;
  } finally {
    await plugins.close("the command is over");
    log.close();
  }
}

/** Those of plugins that are not loaded, as far as their installs told. */
function enginesOff(
  home: string,
  plugins: PluginHost,
  there: readonly string[],
): Omit<ListedEngine, "agents">[] {
  const bundled = [...bundledIds()].map((id) => [id, id] as const);
  const brought = new Map([...bundled, ...Object.entries(readRecords(home).engines)]);
  return [...brought]
    .filter(([id]) => !there.includes(id))
    .map(([id, plugin]) => {
      const record = plugins.records().find((each) => each.id === plugin);
      const isOff = record === undefined || record.status !== "error";
      const problem = isOff ? `off; "clew plugins enable ${plugin}" uses it` : record.reason;
      return { id, plugin, problem: problem ?? "broken" };
    });
}

const rowOf = ({ id, plugin, problem, agents }: ListedEngine): string[] =>
  [
    id,
    plugin !== null ? `plugin ${plugin}` : problem === null ? "the host" : "nobody",
    agents.join(", "),
    problem ?? "ready",
  ].map(printable);
