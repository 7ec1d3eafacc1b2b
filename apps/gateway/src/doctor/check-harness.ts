// Checks the programs that run agents' turns.
import { agentIds, agentSettings } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import { EMBEDDED_HARNESS } from "../config/harness.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { type Harness, whyNotAsked } from "../harness/harness.ts";
import { createHarnesses, harnessLoaders } from "../harness/harnesses.ts";
import { silentLog } from "../log/silent.ts";
import { modelRequest } from "../models/model-request.ts";
import { resolveModel } from "../models/resolve.ts";
import { printable } from "../terminal/output.ts";
import type { Finding } from "./finding.ts";

const subject = "harness";

/** Nothing where the gateway runs all turns itself. */
export async function checkHarnesses(
  environment: Environment,
  { config, raw }: Pick<LoadedConfig, "config" | "raw">,
): Promise<Finding[]> {
  const { home } = environment;
  const agents = Map.groupBy(agentIds(config), (id) => agentSettings(config, home, id).harness);
  agents.delete(EMBEDDED_HARNESS);
  if (agents.size === 0) return [];
  const harnesses = createHarnesses(harnessLoaders(config.harness), {
    ...{ home, log: silentLog },
    env: environment.forCommands({ settings: raw, named: [] }),
  });
  try {
    const findings: Finding[] = [];
    for (const [id, ids] of agents) {
      const who = `agent${ids.length === 1 ? "" : "s"} ${ids.join(", ")}`;
      const harness = await harnesses.find(id);
      const check = await harness?.check();
      if (harness == null || check === undefined) {
        const known = harnesses.ids().join(", ");
        const text = `${who} should run in ${printable(id)}, which no setting names; there is ${known}`;
        findings.push({ level: "failure", code: "harness-unknown", subject, text });
      } else if (check.ok) {
        const text = `${who} run${ids.length === 1 ? "s" : ""} in ${harness.host.label}: ${printable(check.command)} ${check.version}`;
        findings.push({ level: "ok", code: "harness", subject, text });
        for (const agent of ids)
          for (const why of modelsNotAsked(harness, agent, { config, environment }))
            findings.push({
              ...{ level: "failure", code: "harness-model", subject },
              text: `agent ${agent} cannot run: ${printable(why)}`,
            });
      } else {
        const text = `${who} cannot run: ${printable(check.message)}`;
        findings.push({ level: "failure", code: "harness-unavailable", subject, text });
      }
    }
    return findings;
  } finally {
    await harnesses.close();
  }
}

/** Of the model that answers first; one that is not there is told of elsewhere. */
function modelsNotAsked(
  harness: Harness,
  agentId: string,
  { config, environment }: { config: Config; environment: Environment },
): string[] {
  try {
    const { model: name } = agentSettings(config, environment.home, agentId);
    const why = whyNotAsked(harness, resolveModel({ ...modelRequest(config, environment), name }));
    return why === undefined ? [] : [why];
  } catch {
    return [];
  }
}
