// Checks how shadow engines do beside those that answer.
import { agentIds, agentSettings } from "../config/agent.ts";
import type { Config } from "../config/schema.ts";
import { describeShadow } from "../lab/describe-shadow.ts";
import { readNewestShadow, summarizeShadow } from "../lab/shadow-lines.ts";
import { printable } from "../terminal/output.ts";
import type { Finding } from "./finding.ts";

const subject = "shadow engine";

/** Of each agent that has one, by the session that was compared last. */
export async function checkShadow(home: string, config: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const agentId of agentIds(config)) {
    const { shadowEngine } = agentSettings(config, home, agentId);
    if (shadowEngine === undefined) continue;
    const summary = summarizeShadow(await readNewestShadow(home, agentId));
    if (summary === null || summary.engine !== shadowEngine) {
      const text = `agent "${agentId}" has the shadow engine "${shadowEngine}", which was handed no turn yet`;
      findings.push({ level: "note", code: "shadow", subject, text });
      continue;
    }
    const isTroubled = summary.troubles.count > 0;
    findings.push({
      level: isTroubled ? "warning" : "ok",
      code: isTroubled ? "shadow-troubled" : "shadow",
      subject,
      text: printable(`agent "${agentId}": ${describeShadow(summary)}`),
    });
  }
  return findings;
}
