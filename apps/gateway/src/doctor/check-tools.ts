// Checks whether tools that are turned on can be used, and who is asked before they run.
import { agentIds, agentSettings } from "../config/agent.ts";
import type { Config } from "../config/schema.ts";
import { printable } from "../terminal/output.ts";
import { whyNoWorkspace } from "../tools/ready-workspace.ts";
import { isInside, workspaceRoot } from "../tools/workspace-files.ts";
import type { Finding } from "./finding.ts";

const subject = "tools";

/** File tools leave the gateway's own files alone, and a shell cannot be kept from them. */
function checkAround(agent: string, root: string, home: string): Finding[] {
  if (!isInside(root, workspaceRoot(home) ?? home)) return [];
  const text = `agent ${agent} works in ${printable(root)}, which is around ${printable(home)}: commands can read the gateway's keys there, and the secret by which questions are answered; choose another folder with agents.defaults.workspace`;
  return [{ level: "warning", code: "tools-around-home", subject, text }];
}

/** Nothing where none is turned on. */
export function checkTools(config: Config, home: string): Finding[] {
  const { write, shell } = config.tools;
  const used = Object.entries({ write, shell }).filter(([, use]) => use !== "off");
  if (used.length === 0) return [];
  const findings: Finding[] = agentIds(config).flatMap((agent) => {
    const settings = agentSettings(config, home, agent);
    const root = workspaceRoot(settings.workspace);
    if (root !== undefined) return shell === "off" ? [] : checkAround(agent, root, home);
    // Its own folder is made when it is first needed.
    if (!settings.isWorkspaceSet) return [];
    const text = `agent ${agent} is offered none for files and commands: ${whyNoWorkspace(settings, config.tools)}`;
    return [{ level: "warning", code: "tools-without-workspace", subject, text }];
  });
  if (shell !== "off" && process.platform === "win32") {
    const text = "tools.shell is turned on, and on Windows there is no /bin/sh to run commands";
    findings.push({ level: "warning", code: "tools-without-shell", subject, text });
  }
  const uses = used.map(([name, use]) => `tools.${name} is "${use}"`).join(", ");
  findings.push({ level: "ok", code: "tools", subject, text: uses });
  return findings;
}
