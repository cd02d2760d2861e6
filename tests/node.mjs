// Node, as the suites and programs of others need it.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** A Node that is new enough: this one, or that of the lock file in a folder. */
export function findNode(folder, major, suite) {
  if (Number(process.versions.node.split(".")[0]) >= major) return process.execPath;
  const { platform, arch } = process;
  const node = join(folder, "node_modules", `node-${platform}-${arch}`, "bin/node");
  if (existsSync(node)) return node;
  console.error(`${suite}: this Node is ${process.version}, ${major} is needed, and package.json brings none for ${platform}-${arch}`);
  return process.exit(1);
}
