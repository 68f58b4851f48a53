/** The table of mounts, and stores on file systems of other machines. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { mountOf, parseMounts, remoteStoreWarning } from '../../../src/base/file-systems/mounts.ts';

describe('base/file-systems/mounts', () => {
  const mounts = parseMounts(
    '/dev/sda1 / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/sdb /mnt/my\\040disk xfs rw 0 0\n',
  );

  it('finds the file system of a folder by its longest mount point', () => {
    expect(mountOf('/home/x', mounts)).to.deep.equal({ mountPoint: '/', fileSystem: 'ext4' });
    expect(mountOf('/tmp/x', mounts)).to.deep.equal({ mountPoint: '/tmp', fileSystem: 'tmpfs' });
    expect(mountOf('/tmpx', mounts).fileSystem).to.equal('ext4');
    expect(mountOf('/mnt/my disk/data', mounts).fileSystem).to.equal('xfs');
    expect(mountOf('/x', []).fileSystem).to.equal('unknown');
  });

  it('follows links of the part of a path that exists', () => {
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-mounts-'));
    mkdirSync(join(folder, 'far'));
    symlinkSync(join(folder, 'far'), join(folder, 'near'));
    const table = [...mounts, { mountPoint: join(folder, 'far'), fileSystem: 'nfs4' }];
    expect(mountOf(join(folder, 'near', 'data', 'new'), table).fileSystem).to.equal('nfs4');
    rmSync(folder, { recursive: true });
  });

  for (const [fileSystem, isRemote] of [
    ...['nfs', 'nfs4', 'cifs', 'smb3', 'lustre', 'fuse.sshfs', 'gpfs', '9p'].map((it) => [it, true] as const),
    ...['ext4', 'xfs', 'btrfs', 'zfs', 'overlay', 'tmpfs', 'fuseblk', 'unknown'].map((it) => [it, false] as const),
  ])
    it(`${isRemote ? 'warns' : 'does not warn'} of a store on ${fileSystem}`, () => {
      const found = remoteStoreWarning('/data', [{ mountPoint: '/data', fileSystem }]);
      if (isRemote) expect(found).to.match(new RegExp(`^the store in /data is on ${fileSystem}, .*; move it`));
      else expect(found).to.equal(undefined);
    });
});
