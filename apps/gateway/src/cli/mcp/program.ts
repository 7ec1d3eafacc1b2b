// The `clew mcp` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

const json = () => new Option("--json", "print JSON");
const load = () => import("./servers.ts");

/** `done` receives a command's exit code. */
export function addMcpCommands(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  const mcp = program
    .command("mcp")
    .description(
      "offer sessions to other agents by MCP, on input and output; or see the servers whose tools agents use",
    )
    .option("--agent <id...>", "only sessions of these agents; default: of all")
    .option("--session <name...>", "only these sessions; default: all")
    .action(async (options) => done(await (await import("./serve.ts")).mcpServe(options, shell)));
  mcp
    .command("list")
    .description("list the MCP servers of the settings, and how the running gateway has them")
    .addOption(json())
    .action(async (options) => done(await (await load()).mcpList(options, shell)));
  mcp
    .command("status")
    .description(
      "say how each MCP server is and which tools it offers; without a gateway they are started for it; exit code 1 where one is not there",
    )
    .argument("[server]", "only this one")
    .addOption(json())
    .action(async (server: string | undefined, options) =>
      done(await (await load()).mcpStatus(server, options, shell)),
    );
  mcp
    .command("restart")
    .description("have the running gateway connect to an MCP server anew, also one that is off")
    .argument("<server>", "its name in the settings")
    .addOption(json())
    .action(async (server: string, options) =>
      done(await (await load()).mcpRestart(server, options, shell)),
    );
}
