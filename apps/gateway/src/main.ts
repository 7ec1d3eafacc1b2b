#!/usr/bin/env node
// The command `clew`, which checks the Node version before it loads anything else.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  process.stderr.write(
    `clew needs Node 24.11 or newer; this is Node ${process.versions.node}. ` +
      `Install a newer one from https://nodejs.org, or run "npm start" in a checkout, which brings its own.\n`,
  );
  process.exit(1);
}

const { watchReaders } = await import("./terminal/lost-reader.ts");
watchReaders();
const { runCli } = await import("./cli/program.ts");
process.exitCode = await runCli(process.argv.slice(2));
// A plugin may leave a timer or a connection behind: the command is over all the same.
setTimeout(() => process.exit(), 1000).unref();
// A parent that started us with a channel would otherwise keep this process alive.
if (process.connected) process.disconnect?.();
