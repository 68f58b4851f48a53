"""Makes indices.json: indices by SALib 1.6 (pip install SALib) of the Ishigami function."""
import json, numpy as np
from SALib.sample import sobol as ss
from SALib.analyze import sobol as sa
from SALib.test_functions import Ishigami
out=[]
for second,n in ((False,64),(True,32)):
    p={'num_vars':3,'names':['x1','x2','x3'],'bounds':[[-np.pi,np.pi]]*3}
    X=ss.sample(p,n,calc_second_order=second,seed=7)
    Y=Ishigami.evaluate(X)
    S=sa.analyze(p,Y,calc_second_order=second,num_resamples=4000,seed=3)
    rec={'second_order':second,'inputs':['x1','x2','x3'],'values':Y.tolist(),'first':S['S1'].tolist(),'total':S['ST'].tolist(),'first_error':(S['S1_conf']/1.959963984540054).tolist(),'total_error':(S['ST_conf']/1.959963984540054).tolist()}
    if second:
        rec['second']=[S['S2'][i,j] for i in range(3) for j in range(i+1,3)]
        rec['second_error']=[S['S2_conf'][i,j]/1.959963984540054 for i in range(3) for j in range(i+1,3)]
    out.append(rec)
json.dump({'source':'SALib 1.6.0, SALib.analyze.sobol, Ishigami function (a = 7, b = 0.1); errors: bootstrap of 4,000 samples','cases':out},open('indices.json', 'w'))
