// Runs `clew service install` and `uninstall`, which hand the gateway to the system.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { PROVIDERS } from "@clew/plugin-sdk/host";
import { variablesIn } from "../../config/command-environment.ts";
import { type Environment, keyNames } from "../../config/environment.ts";
import { serviceVariables, serviceVariablesFile } from "../../doctor/unset-variables.ts";
import { hashOfHome } from "../../home/identity.ts";
import { prepareHome } from "../../home/prepare-home.ts";
import { storageFailed } from "../../storage-error.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import type { Shell } from "../../terminal/shell.ts";
import { launchdPlist, type ServicePlan, systemdUnit } from "./service-files.ts";

type System = "systemd" | "launchd";

export interface ServiceOptions {
  system?: System;
  start?: boolean;
  print?: boolean;
  json?: boolean;
}

/** A system's service for one home. */
interface Service {
  name: string;
  file: string;
  text: string;
  /** Commands that make it run, and that end it. */
  begin: string[][];
  end: string[][];
}

/** Throws REQUEST_INVALID where the system has no such services, STORAGE_FAILED. */
export async function serviceInstall(
  { system = thisSystem(), start = true, print = false, json = false }: ServiceOptions,
  { environment, output }: Shell,
): Promise<number> {
  const service = serviceOf(system, environment);
  const { file, name, text } = service;
  if (print) {
    if (json) output.json({ name, file, text });
    else output.write(text);
    return EXIT.done;
  }
  if (import.meta.dirname.split(/[\\/]/).includes("_npx"))
    throw new ContextEngineError("REQUEST_INVALID", FROM_CACHE);
  await prepareHome(environment.home);
  await writeService(file, text);
  const problem = start ? await runAll(service.begin) : null;
  const missing = shellKeys(environment);
  const lacks =
    missing.length === 0
      ? null
      : `A service does not know the variables of this shell: write ${missing.join(", ")} into ${serviceVariablesFile(environment)}, a line NAME=value each, and start it again.`;
  const isRunning = start && problem === null;
  if (json) output.json({ name, file, isRunning, problem, lacks });
  else {
    output.line(`${file} is written${isRunning ? `, and ${name} runs` : ""}.`);
    if (!isRunning)
      output.line(`It begins with: ${service.begin.map((words) => words.join(" ")).join(" && ")}`);
    if (problem !== null) output.note(`clew: ${problem}`);
    if (lacks !== null) output.note(`warning: ${lacks}`);
    if (system === "systemd" && isRunning)
      output.line(
        `It ends when you log out, unless you say: loginctl enable-linger ${userInfo().username}`,
      );
  }
  return problem === null ? EXIT.done : EXIT.failed;
}

const FROM_CACHE =
  'A service needs a Clew that stays where it is: "npm install --global @clew/gateway", then "clew service install".';

/** Throws REQUEST_INVALID where the system has no such services, STORAGE_FAILED. */
export async function serviceUninstall(
  { system = thisSystem(), json = false }: ServiceOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { file, name, end } = serviceOf(system, environment);
  const wasThere = existsSync(file);
  const problem = wasThere ? await runAll(end) : null;
  await rm(file, { force: true }).catch((error: unknown) => {
    throw storageFailed(`${file} cannot be removed`, error);
  });
  const text = wasThere
    ? `${problem === null ? `${name} is stopped, and ` : ""}${file} is removed.`
    : `There is no ${file}.`;
  if (json) output.json({ name, file, wasThere, problem });
  else {
    output.line(text);
    if (problem !== null)
      output.note(`clew: ${problem} If ${name} runs, it goes on until it ends.`);
  }
  return problem === null ? EXIT.done : EXIT.failed;
}

function thisSystem(): System {
  if (process.platform === "linux") return "systemd";
  if (process.platform === "darwin") return "launchd";
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `Clew knows no services of this system (${process.platform}); have it run "clew start" when you log in.`,
  );
}

function serviceOf(system: System, environment: Environment): Service {
  const plan = planOf(environment);
  // One account may have gateways of several homes.
  const isUsual = environment.home === join(homedir(), ".clew");
  const suffix = isUsual ? "" : `-${hashOfHome(environment.home).slice(0, 8)}`;
  if (system === "systemd") {
    const name = `clew${suffix}.service`;
    const config = environment.variable("XDG_CONFIG_HOME") ?? join(environment.userHome, ".config");
    const systemctl = (...words: string[]) => ["systemctl", "--user", ...words];
    return {
      ...{ name, file: join(config, "systemd/user", name), text: systemdUnit(plan) },
      begin: [systemctl("daemon-reload"), systemctl("enable", "--now", name)],
      end: [systemctl("disable", "--now", name)],
    };
  }
  const name = `clew.gateway${suffix}`;
  const file = join(environment.userHome, "Library/LaunchAgents", `${name}.plist`);
  const domain = `gui/${userInfo().uid}`;
  return {
    ...{ name, file, text: launchdPlist(plan, name) },
    begin: [["launchctl", "bootstrap", domain, file]],
    end: [["launchctl", "bootout", `${domain}/${name}`]],
  };
}

function planOf(environment: Environment): ServicePlan {
  const { home, variable, configFile } = environment;
  return {
    ...{ node: process.execPath, main: join(import.meta.dirname, "main.js"), home },
    ...(variable("CLEW_CONFIG") !== undefined && { configFile }),
    path: variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin",
    variablesFile: serviceVariablesFile(environment),
  };
}

/** Names of keys, and of what the settings name, that are set here and not for a service. */
function shellKeys(environment: Environment): string[] {
  const usual = PROVIDERS.flatMap(({ id }) => keyNames(id));
  const named = variablesIn(environment.readText(environment.configFile) ?? "");
  const own = serviceVariables(environment);
  return [...new Set([...usual, ...named])].filter(
    (name) => environment.variable(name) !== undefined && !own[name]?.trim(),
  );
}

async function writeService(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw storageFailed(`${file} cannot be written`, error);
  }
}

/** Null: all went well. */
async function runAll(commands: readonly string[][]): Promise<string | null> {
  for (const [program = "", ...words] of commands) {
    const failure = await promisify(execFile)(program, words, { timeout: 60_000 }).then(
      () => null,
      (error: { code?: unknown; stderr?: string; message: string }) =>
        error.code === "ENOENT"
          ? "there is no such program"
          : (error.stderr ?? "").trim().split("\n")[0] || error.message,
    );
    if (failure !== null) return `"${[program, ...words].join(" ")}" failed: ${failure}.`;
  }
  return null;
}
