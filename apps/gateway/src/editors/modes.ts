// Which modes a session has in an editor, and what tools may do in each.
import type { ToolsConfig } from "../config/tools.ts";
import type { ToolRules } from "../tools/editor-client.ts";

export const MODE_IDS = ["ask", "edit", "read"] as const;
export type ModeId = (typeof MODE_IDS)[number];

export interface Mode {
  id: ModeId;
  name: string;
  description: string;
}

/** What the settings say of tools; undefined: nothing. */
export type SaidOfTools = Partial<ToolRules>;

const MODES: Readonly<Record<ModeId, Mode>> = {
  ask: {
    id: "ask",
    name: "Ask",
    description: "You are asked before a file is changed or a command is run.",
  },
  edit: {
    id: "edit",
    name: "Edit freely",
    description: "Files are changed without a question; commands are run as the settings say.",
  },
  read: { id: "read", name: "Read only", description: "Nothing is changed and nothing is run." },
};

/** Pure. What the settings say, and not what they mean where they say nothing. */
export function saidOfTools(raw: unknown): SaidOfTools {
  const { tools } = (raw ?? {}) as { tools?: SaidOfTools };
  return tools ?? {};
}

/** Pure. In an editor somebody is there to be asked, so what is not said is to be asked for. */
export function planRules(mode: ModeId, { write = "ask", shell = "ask" }: SaidOfTools): ToolRules {
  if (mode === "read") return { write: "off", shell: "off" };
  const asked = (rule: ToolsConfig["write"]) => (rule === "off" ? "off" : "ask");
  return mode === "edit"
    ? { write: write === "off" ? "off" : "allow", shell }
    : { write: asked(write), shell: asked(shell) };
}

/** Pure. Those that differ; what the settings switch off no mode switches on. */
export function planModes({ write = "ask", shell = "ask" }: SaidOfTools): {
  modes: readonly Mode[];
  first: ModeId;
} {
  if (write === "off" && shell === "off") return { modes: [MODES.read], first: "read" };
  const modes = [MODES.ask, ...(write === "off" ? [] : [MODES.edit]), MODES.read];
  return { modes, first: write === "allow" ? "edit" : "ask" };
}
