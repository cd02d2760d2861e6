// The programs that the clients and servers of others run in.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 20;

const here = dirname(fileURLToPath(import.meta.url));
export const venv = join(here, ".venv");

/** A Node that is new enough for all of them: this one, or that of the lock file. */
export function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR) return process.execPath;
  const { platform, arch } = process;
  const node = join(here, "node_modules", `node-${platform}-${arch}`, "bin/node");
  if (existsSync(node)) return node;
  console.error(`interop: this Node is ${process.version}, ${NODE_MAJOR} is needed, and package.json brings none for ${platform}-${arch}`);
  return process.exit(1);
}

export function findPython() {
  return join(venv, "bin/python");
}
