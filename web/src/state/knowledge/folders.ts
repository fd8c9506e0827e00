/** Collects files from selected or dropped folders, with their names in the collection. */

export interface Named {
  file: File;
  name: string;
}

export interface Picked {
  files: Named[];
  /** Number of hidden files skipped, such as those in `.git`. */
  hidden: number;
}

interface Located {
  file: File;
  /** Path starting with the selected folder. */
  path: string;
}

/** Document names contain no slashes, and files of the same name in two folders are two documents. */
const between = " › ";

/** Files from a file input; those of a folder have a relative path. */
export const ofInput = (files: Iterable<File>): Picked =>
  named([...files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));

/** Dropped files and folders. Must be called synchronously in the event handler. */
export async function ofDrop(transfer: DataTransfer): Promise<Picked> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  // Some programs provide files without file system entries.
  if (entries.length === 0) return ofInput(transfer.files);
  const located: Located[] = [];
  for (const entry of entries) await walk(entry, located);
  return named(located);
}

async function walk(entry: FileSystemEntry, located: Located[]): Promise<void> {
  if (entry.isDirectory) {
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      // Directory entries are returned in batches.
      const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (part.length === 0) return;
      for (const inside of part) await walk(inside, located);
    }
  }
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  located.push({ file, path: entry.fullPath.replace(/^\//, "") });
}

/** Exported for tests: a single common folder is omitted from the names. */
export function named(located: Located[]): Picked {
  const shown = located.filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  const roots = new Set(shown.map(({ path }) => (path.includes("/") ? path.split("/")[0] : null)));
  const isOneFolder = roots.size === 1 && !roots.has(null);
  const files = shown.map(({ file, path }) => {
    const parts = path.split("/");
    return { file, name: (isOneFolder ? parts.slice(1) : parts).join(between) };
  });
  return { files, hidden: located.length - shown.length };
}
