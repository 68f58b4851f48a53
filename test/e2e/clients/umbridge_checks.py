"""Checks of a bridge by the published client of UM-Bridge, and the checks of its protocol 1.0 with their schemas.

The model is the throat of the tests: the output is the input squared, and the point 0.4 fails.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import requests
import umbridge

url = sys.argv[1]
NAME = "throat"


def client() -> None:
    """The client describes the model, evaluates it, many times at once too, and raises what the model raises."""
    assert umbridge.supported_models(url) == [NAME]
    model = umbridge.HTTPModel(url, NAME)
    assert (model.get_input_sizes(), model.get_output_sizes()) == ([1], [1])
    assert model.supports_evaluate() and not model.supports_gradient()
    assert not model.supports_apply_jacobian() and not model.supports_apply_hessian()
    assert model([[0.25]]) == [[0.0625]]
    points = [at / 64 for at in range(64)]
    with ThreadPoolExecutor(64) as executor:
        values = list(executor.map(lambda x: model([[x]])[0][0], points))
    assert values == [x * x for x in points], values
    try:
        model([[0.4]])
        raise AssertionError("the failed run has a value")
    except Exception as error:  # the client raises nothing narrower
        assert "ModelError" in str(error) and "melts" in str(error), error
    try:
        umbridge.HTTPModel(url, "other")
        raise AssertionError("the model is not there")
    except Exception as error:
        assert "not supported" in str(error), error


def protocol() -> None:
    """Every answer has its status, and exactly the members of its schema."""

    def post(path, **body):
        answer = requests.post(f"{url}/{path}", json=body, timeout=60)
        assert answer.headers["content-type"] == "application/json"
        return answer.status_code, answer.json()

    def fails(answer, status, kind):
        code, body = answer
        assert (code, list(body), set(body["error"])) == (status, ["error"], {"type", "message"}), answer
        assert body["error"]["type"] == kind and isinstance(body["error"]["message"], str), answer

    info = requests.get(f"{url}/Info", timeout=60)
    assert info.status_code == 200 and info.json() == {"protocolVersion": 1.0, "models": [NAME]}
    support = {"Evaluate": True, "Gradient": False, "ApplyJacobian": False, "ApplyHessian": False}
    assert post("ModelInfo", name=NAME) == (200, {"support": support})
    assert post("InputSizes", name=NAME) == (200, {"inputSizes": [1]})
    assert post("OutputSizes", name=NAME, config={}) == (200, {"outputSizes": [1]})
    assert post("Evaluate", name=NAME, input=[[0.0]], config={}) == (200, {"output": [[0.0]]})
    # Clients send the body with the media type of a form, or without one.
    body = '{"name": "throat", "input": [[0.5]]}'
    assert requests.post(f"{url}/Evaluate", data=body, headers={}, timeout=60).json() == {"output": [[0.25]]}
    for path in ("ModelInfo", "InputSizes", "OutputSizes", "Evaluate", "Gradient"):
        fails(post(path, name="wrong_model_name"), 400, "ModelNotFound")
    for path in ("Gradient", "ApplyJacobian", "ApplyHessian"):
        fails(post(path, name=NAME), 400, "UnsupportedFeature")
    for wrong in ([[0.0, 0.0]], [[]], [], [[0.0], [0.0]], [0.0], None, "x"):
        fails(post("Evaluate", name=NAME, input=wrong, config={}), 400, "InvalidInput")
    fails(post("Evaluate", name=NAME, input=[[0.4]]), 500, "ModelError")


client()
protocol()
print("passed")
