// The command `clew`: checks the Node version before anything else is loaded, then hands over to the commands.
export {};

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  process.stderr.write(
    `clew needs Node 24.11 or newer, this is ${process.versions.node}; run "npm start" in the checkout, which brings its own.\n`,
  );
  process.exit(1);
}
const { runCli } = await import("./cli/program.ts");
process.exitCode = await runCli(process.argv.slice(2));
// A parent that started us with a channel would otherwise keep this process alive.
if (process.connected) process.disconnect?.();
