// The `clew plugins` commands and their options.
import { type Command, Option } from "commander";
import type { Shell } from "../../terminal/shell.ts";

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const json = () => new Option("--json", "print JSON");
const loadChange = () => import("./change.ts");

/** `done` receives a command's exit code. */
export const addPluginCommands: Add = (program, shell, done) => {
  const plugins = program
    .command("plugins")
    .alias("plugin")
    .description("install, select and inspect plugins; OpenClaw's work unchanged");
  addInstalling(plugins, shell, done);
  addPacking(plugins, shell, done);
  addInspecting(plugins, shell, done);
  addSwitching(plugins, shell, done);
};

const addInstalling: Add = (plugins, shell, done) => {
  plugins
    .command("install")
    .description(
      "install from npm, a folder or an archive; asks before any of its code runs, and changes nothing unless it works",
    )
    .argument("<spec>", "name, name@version, ./folder or file.tgz")
    .option("-l, --link", "use the folder where it is")
    .option("--force", "replace what is installed under the same id")
    .option("--pin", "stay at this version in updates")
    .option("-y, --yes", "do not ask before its code runs")
    .option("--no-data", "keep no copy of the data of a version that is replaced")
    .addOption(json())
    .action(async (spec: string, options) =>
      done(await (await loadChange()).install(spec, options, shell)),
    );
  plugins
    .command("update")
    .description(
      "install the newest version of these plugins, or of all installed ones; what they replace is kept",
    )
    .argument("[ids...]")
    .option("--no-data", "keep no copy of their data")
    .addOption(json())
    .action(async (ids: string[], options) =>
      done(await (await loadChange()).update(ids, options, shell)),
    );
  plugins
    .command("rollback")
    .description("bring back the version before the last update, with the data it had then")
    .argument("<id>")
    .option("--no-data", "leave the data as it is")
    .addOption(json())
    .action(async (id: string, options) =>
      done(await (await loadChange()).rollback(id, options, shell)),
    );
  plugins
    .command("uninstall")
    .description("remove plugins and the settings that their install made")
    .argument("<ids...>")
    .option("--dry-run", "say what would happen")
    .option("--keep-files", "move the files aside instead of deleting them")
    .addOption(json())
    .action(async (ids: string[], options) =>
      done(await (await loadChange()).uninstall(ids, options, shell)),
    );
};

const addPacking: Add = (plugins, shell, done) => {
  plugins
    .command("pack")
    .description(
      "make one installable file of a plugin, and say in sentences what would not work in Clew or OpenClaw; runs its code",
    )
    .argument("<folder>", "a plugin's folder; with --check also an archive, such as file.tgz")
    .option("-o, --out <file>", "where it is written; by default here, by name and version")
    .option(
      "--check",
      "write nothing, and check an archive, or a folder as npm itself would pack it",
    )
    .addOption(json())
    .action(async (folder: string, options) =>
      done(await (await import("./pack.ts")).pack(folder, options, shell)),
    );
};

const addInspecting: Add = (plugins, shell, done) => {
  plugins
    .command("list")
    .description("list all plugins, loaded or not")
    .addOption(json())
    .action(async (options) => done(await (await import("./list.ts")).list(options, shell)));
  plugins
    .command("inspect")
    .alias("info")
    .description("show what a plugin says about itself, and with --runtime what it registers")
    .argument("<id>")
    .option("--runtime", "load it to see what it registers")
    .addOption(json())
    .action(async (id: string, options) =>
      done(await (await import("./inspect.ts")).inspect(id, options, shell)),
    );
  plugins
    .command("doctor")
    .description("show load errors, refused registrations and stale slots")
    .addOption(json())
    .action(async (options) => done(await (await import("./doctor.ts")).doctor(options, shell)));
};

const addSwitching: Add = (plugins, shell, done) => {
  plugins
    .command("enable")
    .description("switch a plugin on; a context engine takes the slot")
    .argument("<id>")
    .addOption(json())
    .action(async (id: string, options) =>
      done(await (await loadChange()).enable(id, options, shell)),
    );
  plugins
    .command("disable")
    .description("switch a plugin off; slots keep their value")
    .argument("<id>")
    .addOption(json())
    .action(async (id: string, options) =>
      done(await (await loadChange()).disable(id, options, shell)),
    );
  plugins
    .command("reload")
    .description("make a running gateway load its plugins again, without a pause")
    .addOption(json())
    .action(async (options) => done(await (await import("./reload.ts")).reload(options, shell)));
};
