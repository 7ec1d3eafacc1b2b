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

// As it is before any plugin.
const { reallyExit: end } = process as unknown as { reallyExit(exitCode: unknown): void };

(await import("./config/compile-cache.ts")).keepCompiled();
// What is loaded from here on would have it grow.
if (process.argv[2] === "start") (await import("./young-space.ts")).holdYoungSpace();
const { watchReaders } = await import("./terminal/lost-reader.ts");
watchReaders();
const { canPaint, isTalk } = await import("./cli/chat/is-talk.ts");
const argv = process.argv.slice(2);
const first = isTalk(argv) && canPaint() && (await import("./cli/chat/first-screen.ts"));
// Who talks sees a prompt before anything large is loaded.
if (first) first.chatScreen();
const { answerHelp } = await import("./cli/help.ts");
process.exitCode = (await answerHelp(argv)) ?? (await (await import("./cli/run.ts")).runCli(argv));
if (first) first.closeChatScreen();
// A plugin may leave a timer or a connection behind: the command is over all the same.
setTimeout(() => {
  try {
    process.exit();
  } finally {
    // It can only have thrown.
    end.call(process, process.exitCode);
  }
}, 1000).unref();
// A parent that started us with a channel would otherwise keep this process alive.
if (process.connected) process.disconnect?.();
