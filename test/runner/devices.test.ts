/** The GPUs of a runner: which are found, which are pinned, what the log says. */
import { expect } from 'chai';
import { pinnedDevices } from '../../src/runner/config/resources.ts';
import { devicesIn, findDevices } from '../../src/runner/processes/devices.ts';

const ports = (smi: string | undefined, files: string[] = []) => ({ smi: async () => smi, deviceFiles: () => files });

describe('runner/processes/devices', () => {
  const lists: [string, string[]][] = [
    ['0,2', ['0', '2']],
    ['GPU-1a2b,MIG-3c/0/1', ['GPU-1a2b', 'MIG-3c/0/1']],
    ['0-3', ['0', '1', '2', '3']],
    ['1,1', ['1']],
    ['1,-1,2', ['1']],
    ['NoDevFiles', []],
    ['', []],
  ];
  for (const [text, ids] of lists)
    it(`reads ${JSON.stringify(text)}`, () => expect(devicesIn(text)).to.deep.equal(ids));

  it('looks at the allocation, then at nvidia-smi, then at device files', async () => {
    const smi = 'GPU 0: Test (UUID: GPU-a)\nGPU 1: Test (UUID: GPU-b)\n';
    const files = ['nvidia10', 'nvidia2', 'nvidiactl', 'null'];
    expect(
      (await findDevices({ CUDA_VISIBLE_DEVICES: '3', SLURM_JOB_GPUS: '0,1' }, ports(smi, files))).ids,
    ).to.deep.equal(['3']);
    expect((await findDevices({ SLURM_JOB_GPUS: '0,1' }, ports(undefined))).ids).to.deep.equal(['0', '1']);
    expect((await findDevices({}, ports(smi, files))).ids).to.deep.equal(['0', '1']);
    expect((await findDevices({}, ports(undefined, files))).ids).to.deep.equal(['2', '10']);
    expect((await findDevices({}, ports(undefined))).ids).to.deep.equal([]);
  });

  it('pins as many as the setting says, and says what is missing', () => {
    const found = (...ids: string[]) => ({ ids, source: 'X' });
    expect(pinnedDevices(undefined, found('0'))).to.equal(undefined);
    expect(pinnedDevices({ comsol: 2 }, found('0'))).to.equal(undefined);
    expect(pinnedDevices({ gpu: 'auto' }, found('0', '4'))).to.deep.equal({ devices: ['0', '4'] });
    expect(pinnedDevices({ gpu: 1 }, found('0', '4'))).to.deep.equal({ devices: ['0'] });
    expect(pinnedDevices({ gpu: 'auto' }, found()))
      .to.deep.include({ devices: [] })
      .and.have.property('note')
      .that.contains('offers 0');
    expect(pinnedDevices({ gpu: 3 }, found('0')))
      .to.deep.include({ devices: ['0'] })
      .and.have.property('note')
      .that.contains('gpu is 3, and 1 are there');
    expect(pinnedDevices({ gpu: 2 }, found()))
      .to.deep.include({ devices: ['0', '1'] })
      .and.have.property('note')
      .that.contains('0 to 1');
  });
});
