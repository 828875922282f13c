# SPDX-License-Identifier: BSL-1.0
# cmake -DPROGRAM=<minilm> -DMODEL=<folder> -DOUT=<folder> -P encoder.cmake: the whole encoder against the original; without
# OUT, <minilm_tune>: its gradients against those of PyTorch.
if(NOT EXISTS "${MODEL}/model.safetensors")
  message(STATUS "[SKIP] no weights in ${MODEL}: ./run demo fetches them")
  return()
endif()
execute_process(COMMAND "${PROGRAM}" "${MODEL}" ${OUT} RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${code}")
endif()
