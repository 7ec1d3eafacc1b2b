// Which commands an editor offers where a person types.
import type { AvailableCommand } from "@agentclientprotocol/sdk";

/** As the gateway lists them. */
export interface ListedCommand {
  /** "/compact [focus | undo]". */
  usage: string;
  description: string;
}

/** Pure. */
export const planCommands = (commands: readonly ListedCommand[]): AvailableCommand[] =>
  commands.map(({ usage, description }) => {
    const [, name = "", hint = ""] = /^\/(\S+)\s*(.*)$/s.exec(usage) ?? [];
    return { name, description, ...(hint !== "" && { input: { hint } }) };
  });
