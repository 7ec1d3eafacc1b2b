// The `clew approvals` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

const json = () => new Option("--json", "print JSON");
const load = () => import("./approvals.ts");

/** `done` receives a command's exit code. */
export function addApprovalCommands(
  program: Command,
  shell: Shell,
  done: (exitCode: number) => void,
): void {
  const approvals = program
    .command("approvals")
    .description("answer what turns of the running gateway wait for");
  approvals
    .command("list")
    .description("list the tools that wait to be allowed, and what they would do; oldest first")
    .option("--session <name>", "only those of this session and of those below it")
    .addOption(json())
    .action(async (options) => done(await (await load()).approvalsList(options, shell)));
  approvals
    .command("answer")
    .description("let a tool run, or not; exit code 1 when it does not wait any more")
    .argument("<id>", "of the approval")
    .argument("<answer>", "once, session (the same is not asked again in it) or no")
    .addOption(json())
    .action(async (id, answer, options) =>
      done(await (await load()).approvalsAnswer(id, answer, options, shell)),
    );
  approvals
    .command("link")
    .description("print the link that lets a browser on this machine answer on the page")
    .addOption(json())
    .action(async (options) => done(await (await load()).approvalsLink(options, shell)));
}
