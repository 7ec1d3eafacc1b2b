// Keeps the process that it is loaded into from reaching any machine but this one.
import { Socket } from "node:net";

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;

/** Of whatever `connect` is given; undefined = a file, not a machine. */
function hostOf(given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  if (typeof first === "object" && first !== null)
    return first.path === undefined || first.path === null
      ? (first.host ?? "localhost")
      : undefined;
  if (Number.isNaN(Number(first))) return undefined;
  return typeof second === "string" ? second : "localhost";
}

// npm itself has a registry to ask.
if (!/[\\/]npm(?:-cli\.js)?$/.test(process.argv[1] ?? "")) {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (...given) {
    const host = hostOf(given);
    if (host === undefined || LOOPBACK.test(host)) return connect.apply(this, given);
    this.destroy(new Error(`A plugin that is tried may not reach ${host}.`));
    return this;
  };
}
